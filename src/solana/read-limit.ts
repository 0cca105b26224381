/** Tells what the endpoints permit to be read, as their options say. */
import type { ReadLimit } from "../ledger/ledger.ts";
import type { CheckedEndpoint } from "./endpoint-options.ts";

/** All endpoints that answer reads together: a read goes to the first that has room for it. */
export function readLimitOf(endpoints: readonly CheckedEndpoint[]): ReadLimit {
  const readers = endpoints.filter(({ roles }) => roles.includes("read"));
  const perSecond = readers.reduce<number | null>(
    (sum, { requestsPerSecond: rate = null }) => (sum === null || rate === null ? null : sum + rate),
    0,
  );
  return {
    perSecond,
    accounts: Math.min(...readers.map(({ accountsPerCall }) => accountsPerCall)),
    witnesses: endpoints.filter(({ roles }) => roles.includes("witness")).length,
  };
}
