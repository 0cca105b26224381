/** Finds what operators have set about whom the ledger believes: fewer witnesses, and endpoints out of service. */
import { isoTime } from "../../iso-time.ts";
import { beliefRules, loweredWitnesses, type LoweringParts } from "../../intake/lowered-witnesses.ts";
import { matterId, type AttentionSource } from "./matter.ts";

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
          "It ends by itself; bring the other endpoints back, then run paystate reconcile",
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
