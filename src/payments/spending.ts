/** What purses of the service's own have spent, counted from the rows that each signature leaves behind. */
import type { SpendingRecord } from "./tables/limits.ts";
import type { PaymentStorage, PaymentWrite } from "./payment-storage.ts";

/** The window in which spending is limited, and from which it is estimated. */
export const DAY_MS = 24 * 3_600_000;

/** The sponsor's lamports: what is reserved of them, and what of them was spent. */
export function sponsorPurse(sponsor: string): string {
  return `sponsor ${sponsor}`;
}

/** What a desk gives of one asset. */
export function deskPurse(desk: string, mint: string): string {
  return `desk ${desk} gives ${mint}`;
}

/** One set of signed bytes, and what its landing costs a purse for good, in base units. */
interface Spending {
  readonly signature: string;
  readonly purse: string;
  readonly amount: bigint;
}

/**
 * Belongs into the commit that stores the signed bytes: what is signed counts from then on, whether it has landed or not.
 * Empty for bytes that cost nothing.
 */
export function spend({ signature, purse, amount }: Spending, at: number): readonly PaymentWrite[] {
  if (amount <= 0n) return [];
  const insert: SpendingRecord = { id: `${signature} ${purse}`, purse, amount, at };
  return [{ table: "spendings", insert }];
}

/** Base units that a purse has spent in the 24 hours before `now`. */
export async function spentInADay(
  storage: Pick<PaymentStorage, "spendings">,
  purse: string,
  now: number,
): Promise<bigint> {
  const rows = await storage.spendings(purse, now - DAY_MS);
  return rows.reduce((sum, { amount }) => sum + amount, 0n);
}
