/** Finds that the number of witnesses is lowered, for as long as it is. */
import { isoTime } from "../../iso-time.ts";
import { loweredWitnesses, type LoweringParts } from "../../intake/lowered-witnesses.ts";
import { matterId, type AttentionSource } from "./matter.ts";

/** One matter at most. It ends by itself, so `resolve` has no action for it. */
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
