/** Combines finalized balances from several endpoints: an amount counts as far as enough of them show it. */
import { MAX_SLOTS_BEHIND } from "../health.ts";

/** Balances that one endpoint reported, with their slot. */
export interface ToldBalances {
  readonly slot: number;
  readonly endpoint: string;
  /** Base units, in the same order in every answer. */
  readonly amounts: readonly bigint[];
}

interface AgreedBalances<T> {
  /** The answers that count, newest first. */
  readonly counted: readonly T[];
  readonly oldest: T;
  readonly amounts: readonly bigint[];
  /** The highest amount in any counted answer: above `amounts` when endpoints differ. */
  readonly most: readonly bigint[];
}

/**
 * For each amount, the highest value that `witnesses` endpoints confirm: with two agreeing endpoints, the lower value.
 * The result is dated by the oldest counted answer, so that spent money is never taken for present money. Answers far
 * behind are ignored as long as enough remain: a stuck endpoint, or an endpoint that claims to be far ahead, blocks
 * nothing. Needs at least `witnesses` answers.
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

/** Compares amounts, for a sort; of a difference that no number tells, the sign is right all the same. */
export function largestFirst(one: bigint, other: bigint): number {
  return Number(other - one);
}
