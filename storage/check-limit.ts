/** Checks how many rows a read is asked for: databases differ in what they make of what is no number of rows. */

/** @throws TypeError naming what is read. */
export function checkLimit(read: string, limit: number): void {
  if (Number.isSafeInteger(limit) && limit >= 0) return;
  throw new TypeError(`${read}: limit ${limit}: expected a whole number from 0`);
}
