/** Finds what endpoints tell differently, for as long as they do. */
import type { EndpointDispute } from "../../../ledger/ledger.ts";
import { matterId, type AttentionSource } from "./matter.ts";

/** Seen by this process alone: another one asks for other facts. Ends by agreement, so `resolve` has no action for it. */
export function disputedFacts(disputes: () => Promise<readonly EndpointDispute[]>): AttentionSource {
  return async (limit) =>
    (await disputes()).slice(0, limit).map(({ subject, endpoints, since }) => ({
      kind: "disputed",
      id: matterId("disputed", subject),
      since,
      message:
        `the endpoints${endpoints.length === 0 ? "" : ` ${endpoints.join(", ")}`} differ about ${subject}: what depends ` +
        "on it waits. Find out which endpoint is wrong, and take it out of service (paystate endpoint --suspend NAME)",
      actions: [],
    }));
}
