/** What the chart of a deposit address has counted so far, as it is stored. */
import type { DepositAddressContext } from "../../machines/index.ts";
import type { PaymentStorage } from "./payment-storage.ts";

/** A deposit address as of its last commit. */
interface CountedDeposit {
  readonly context: DepositAddressContext;
  /** The number of its steps so far: what was concluded from this one may be committed after no other. */
  readonly version: number;
}

/** Throws when there is no such address. */
export async function countedDeposit(
  storage: Pick<PaymentStorage, "load">,
  address: string,
): Promise<CountedDeposit> {
  const instance = await storage.load(address);
  if (instance === null) throw new Error(`deposit address ${address} is not stored`);
  const { context } = JSON.parse(instance.snapshot) as { readonly context: DepositAddressContext };
  return { context, version: instance.version };
}

/** The context as of the last commit. Throws when there is no such address. */
export async function depositContext(
  storage: Pick<PaymentStorage, "load">,
  address: string,
): Promise<DepositAddressContext> {
  return (await countedDeposit(storage, address)).context;
}
