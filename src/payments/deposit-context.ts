/** The stored context of a deposit address's chart. */
import type { DepositAddressContext } from "../../machines/deposit-address-context.ts";
import type { PaymentStorage } from "./payment-storage.ts";

interface CountedDeposit {
  readonly context: DepositAddressContext;
  /** The number of steps of the address so far. Conclusions from this state are committed only at this version. */
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
