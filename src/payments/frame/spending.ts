/** Spendings of the service's own purses, counted from a row for each signature. */
import type { SpendingRecord } from "./tables/limits.ts";
import type { FrameStorage, FrameWrite } from "./frame-storage.ts";

/** The window in which spending is limited and estimated. */
export const DAY_MS = 24 * 3_600_000;

/** The sponsor's lamports: the key under which reservations and spendings are stored. */
export function sponsorPurse(sponsor: string): string {
  return `sponsor ${sponsor}`;
}

/** The desk's balance of an asset that it gives: the key of its reservations and spendings. */
export function deskPurse(desk: string, mint: string): string {
  return `desk ${desk} gives ${mint}`;
}

/** The sponsor's lamports for bids above what customers pay: the key of their spendings. */
export function raisedBids(sponsor: string): string {
  return `raised bids of ${sponsor}`;
}

/** The daily counter of a purse: the key of its reservations. */
export function inADay(purse: string): string {
  return `${purse} in a day`;
}

/** The cost of a landing for a purse, in base units, by the signature. */
interface Spending {
  readonly signature: string;
  readonly purse: string;
  readonly amount: bigint;
}

/**
 * Belongs into the commit that stores the signed bytes: signed bytes count from then on, whether they land or not.
 * Empty for bytes that cost nothing.
 */
export function spend({ signature, purse, amount }: Spending, at: number): readonly FrameWrite[] {
  if (amount <= 0n) return [];
  const insert: SpendingRecord = { id: spendingId(signature, purse), purse, amount, at };
  return [{ table: "spendings", insert }];
}

/** The id of what signed bytes cost a purse. */
export function spendingId(signature: string, purse: string): string {
  return `${signature} ${purse}`;
}

/** Base units that a purse has spent in the 24 hours before `now`. */
export const spentInADay = (
  storage: Pick<FrameStorage, "spent">,
  purse: string,
  now: number,
): Promise<bigint> => storage.spent(purse, now - DAY_MS);
