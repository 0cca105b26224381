/** Checks how many a caller wants of a list: databases differ in what they make of what is no number of rows. */

/** @throws TypeError naming the list */
export function checkLimit(list: string, limit: number, most = Number.MAX_SAFE_INTEGER): void {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= most) return;
  const to = most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`;
  throw new TypeError(`${list}: limit ${limit}: expected a whole number from 1${to}`);
}
