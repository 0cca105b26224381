/** All deposit addresses of a run, each with the state that its chart is in. */
import type { ChartSnapshot } from "../../src/engine/index.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { DepositRecord } from "../../src/payments/tables/deposits.ts";

/** One of them. */
export interface AddressInState {
  readonly deposit: DepositRecord;
  /** The innermost one. */
  readonly state: string;
}

const PAGE = 50;

export async function allAddresses(storage: PaymentStorage): Promise<readonly AddressInState[]> {
  const found: AddressInState[] = [];
  for (let after = ""; ;) {
    const page = await storage.depositsAfter(after, PAGE);
    for (const deposit of page) {
      const instance = await storage.load(deposit.id);
      const { value } = JSON.parse(instance?.snapshot ?? '{"value":"gone"}') as ChartSnapshot;
      found.push({ deposit, state: innermost(value) });
    }
    const last = page.at(-1);
    if (last === undefined) return found;
    after = last.id;
  }
}

function innermost(value: unknown): string {
  return typeof value === "object" && value !== null ? innermost(Object.values(value)[0]) : String(value);
}
