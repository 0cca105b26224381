/** Tells what the endpoints permit to be read, as their options say. */
import type { ReadLimit } from "../ledger/ledger.ts";
import type { EndpointOptions } from "./endpoint.ts";
import { MAX_ACCOUNTS_PER_CALL } from "./rpc/call-limits.ts";

/** All endpoints together: a read goes to the first that has room for it. */
export function readLimitOf(endpoints: readonly EndpointOptions[]): ReadLimit {
  const options = endpoints.map((each) => (typeof each === "string" ? { url: each } : each));
  const rates = options.map(({ requestsPerSecond = null }) => requestsPerSecond);
  const perSecond = rates.reduce<number | null>(
    (sum, rate) => (sum === null || rate === null ? null : sum + rate),
    0,
  );
  const accounts = options.map(({ accountsPerCall = MAX_ACCOUNTS_PER_CALL }) => accountsPerCall);
  return { perSecond, accounts: Math.min(...accounts) };
}
