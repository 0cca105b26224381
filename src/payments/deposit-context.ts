/** What the chart of a deposit address has counted so far, as it is stored. */
import type { DepositAddressContext } from "../../machines/index.ts";
import type { PaymentStorage } from "./payment-storage.ts";

/** The context as of the last commit. Throws when there is no such address. */
export async function depositContext(
  storage: Pick<PaymentStorage, "load">,
  address: string,
): Promise<DepositAddressContext> {
  const instance = await storage.load(address);
  if (instance === null) throw new Error(`deposit address ${address} is not stored`);
  return (JSON.parse(instance.snapshot) as { readonly context: DepositAddressContext }).context;
}
