/** Finds what holds up reading the chain: endpoints that differ, are out of service or silent, and missing evidence. */
import type { EndpointDispute, RateLimitedEndpoint } from "../../../ledger/ledger.ts";
import { matterId, type AttentionSource } from "../../frame/acts/matter.ts";
import { isoTime } from "../../frame/iso-time.ts";
import { beliefRules, loweredWitnesses, type LoweringParts } from "../../frame/intake/rules.ts";
import type { WatchStatus } from "../../../engine/index.ts";
import type { Clock } from "../../../core/runtime.ts";

/** Seen by this process alone: another one asks for other facts. Ends by agreement, so `resolve` has no action for it. */
export function disputedFacts(disputes: () => Promise<readonly EndpointDispute[]>): AttentionSource {
  return async (limit) =>
    (await disputes()).slice(0, limit).map(({ subject, endpoints, since }) => ({
      kind: "disputed",
      id: matterId("disputed", subject),
      since,
      message:
        `the endpoints${endpoints.length === 0 ? "" : ` ${endpoints.join(", ")}`} differ about ${subject}: what depends ` +
        "on it waits. Find out which endpoint is wrong, and take it out of service (paystate operator endpoint --suspend NAME)",
      actions: [],
    }));
}

/** Seen by this process alone: another one has limits of its own. Ends with the next answer. */
export function rateLimitedEndpoints(
  limited: () => Promise<readonly RateLimitedEndpoint[]>,
): AttentionSource {
  return async (limit) =>
    (await limited()).slice(0, limit).map(({ endpoint, since }) => ({
      kind: "rate_limited",
      id: matterId("rate_limited", endpoint),
      since,
      message:
        `${endpoint} has answered every read with "too many requests" for five minutes: look at the plan and the quota of ` +
        "its provider, set requestsPerSecond, or remove the endpoint",
      actions: [],
    }));
}

/** At most one matter. The lowering ends by itself, so `resolve` has no action. */
export function loweredNumber(parts: LoweringParts): AttentionSource {
  return async () => {
    const lowered = await loweredWitnesses(parts);
    if (lowered === null) return [];
    const { witnesses, since, until, actor, reason } = lowered;
    const who = witnesses === 1 ? "one endpoint alone decides" : `${witnesses} endpoints decide`;
    return [
      {
        kind: "lowered_witnesses",
        id: matterId("lowered_witnesses", isoTime(since)),
        since,
        message:
          `until ${isoTime(until)} ${who} what is believed to be final, as ${actor} has set it (${reason}). ` +
          "It ends by itself; bring the other endpoints back, then run paystate operator reconcile",
        actions: [],
      },
    ];
  };
}

/** One matter for each endpoint out of service. A suspension ends by itself, so `resolve` has no action. */
export function suspendedEndpoints(parts: LoweringParts): AttentionSource {
  return async (limit) => {
    const { suspendedEndpoints: suspended } = await beliefRules(parts);
    return suspended.slice(0, limit).map(({ endpoint, since, until, actor, reason }) => ({
      kind: "suspended_endpoint",
      id: matterId("suspended_endpoint", `${endpoint} ${isoTime(since)}`),
      since,
      message:
        `until ${isoTime(until)} ${endpoint} is out of service, as ${actor} has set it (${reason}). ` +
        "It ends by itself; mend the endpoint, or remove it from the ledger's options",
      actions: [],
    }));
  };
}

/** A node that restarts is back sooner. */
const STUCK_MS = 5 * 60_000;

/** Known to this process alone: another one polls other shards. */
export function stuckWatches(
  watching: () => Readonly<Record<string, WatchStatus>>,
  clock: Clock,
): AttentionSource {
  return async (limit) =>
    Object.entries(watching())
      .filter(([, { lateMs }]) => lateMs >= STUCK_MS)
      .slice(0, limit)
      .map(([kind, { watched, oldestMs }]) => ({
        kind: "stuck_watch",
        id: matterId("stuck_watch", kind),
        since: clock.now() - oldestMs,
        message: `nothing was found out about some of ${watched} watches (${kind}): see the log for what the nodes answer`,
        actions: [],
      }));
}
