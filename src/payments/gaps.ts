/** Gaps in the lives of a database: times when no process was at work on it, and another copy of it may have been. */
import type { TimeWindow } from "../ledger/routing.ts";
import type { LifeRecord } from "./tables/database.ts";
import type { DepositRecord } from "./tables/deposits.ts";

/** A start that finds no younger sign of life comes after a gap. A restart takes less. */
export const GAP_MS = 3 * 60_000;
/** The clock of the storage, by which signs are given, and that of the chain's blocks may differ by so much. */
export const CLOCKS_MS = 2 * 60_000;

/**
 * The time of which the chain must show what an address has signed: from the oldest gap for which it was not checked, or from
 * its creation where that was later, to the end of the newest. Null where the database missed nothing of it.
 */
export function uncheckedTime(
  lives: readonly LifeRecord[],
  { createdAt, checkedTo }: Pick<DepositRecord, "createdAt" | "checkedTo">,
): TimeWindow | null {
  const known = Math.max(createdAt, checkedTo ?? createdAt);
  const unchecked = gapsBetween(lives).filter(({ to }) => to > known);
  if (unchecked.length === 0) return null;
  const oldest = Math.min(...unchecked.map(({ from }) => from));
  return { from: Math.max(createdAt, oldest - CLOCKS_MS), to: Math.max(...unchecked.map(({ to }) => to)) };
}

/**
 * The lives as a start would find them that came a little ago: before anything is started on a restored copy, the time since
 * its last sign is a gap as well. It ends early enough for the final blocks of a healthy endpoint to reach its end.
 */
export function livesUntil(lives: readonly LifeRecord[], now: number): readonly LifeRecord[] {
  const end = now - CLOCKS_MS;
  const last = lives.at(-1);
  if (last === undefined || end - last.until <= GAP_MS) return lives;
  return [...lives, { id: "", version: 0, since: end, until: end }];
}

function gapsBetween(lives: readonly LifeRecord[]): readonly TimeWindow[] {
  return lives.flatMap(({ since: to }, index): TimeWindow[] => {
    const from = lives[index - 1]?.until ?? to;
    // Two processes that start at once may each begin a life.
    return to - from > GAP_MS ? [{ from, to }] : [];
  });
}
