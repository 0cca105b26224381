/** Combines finalized balances from several endpoints: an amount counts as far as enough of them show it. */
import { MAX_SLOTS_BEHIND } from "../health.ts";

/** Balances as one endpoint answered them, and when they were so. */
export interface ToldBalances {
  readonly slot: number;
  readonly endpoint: string;
  /** Base units, in an order that is the same in every answer. */
  readonly amounts: readonly bigint[];
}

/** What enough endpoints agree on. */
interface AgreedBalances<T> {
  /** The answers that count, newest first. */
  readonly counted: readonly T[];
  readonly oldest: T;
  readonly amounts: readonly bigint[];
  /** The most that any answer counted tells of each amount: above `amounts` where endpoints differ. */
  readonly most: readonly bigint[];
}

/**
 * Of each amount the most that `witnesses` endpoints vouch for: with two endpoints that must agree, the lower one. No
 * later block than that of any answer counted is claimed, so that what an address has spent is not taken for money that
 * is still there. Answers far behind are left out as long as enough remain: one endpoint that stands still, or claims to
 * be far ahead, stops nothing. Needs `witnesses` answers or more.
 */
export function agreedBalances<T extends ToldBalances>(
  answers: readonly T[],
  witnesses: number,
): AgreedBalances<T> {
  const newestFirst = answers.toSorted((one, other) => other.slot - one.slot);
  const reached = newestFirst[witnesses - 1]?.slot ?? 0;
  const counted = newestFirst.filter(({ slot }) => slot >= reached - MAX_SLOTS_BEHIND);
  const oldest = counted.at(-1);
  if (oldest === undefined) throw new TypeError("balances are agreed on by one answer at least");
  const told = oldest.amounts.map((_, index) =>
    counted.map((answer) => answer.amounts[index] ?? 0n).toSorted(largestFirst),
  );
  return {
    counted,
    oldest,
    amounts: told.map((each) => each[witnesses - 1] ?? 0n),
    most: told.map(([largest = 0n]) => largest),
  };
}

function largestFirst(one: bigint, other: bigint): number {
  return one > other ? -1 : Number(one < other);
}
