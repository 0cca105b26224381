/**
 * Checks that this machine's clock and the chain's clock agree: quotes and deposit windows end by this machine's clock.
 */
import type { Diagnosis } from "../../service/diagnosis.ts";
import { fine, warning, type Finding } from "./finding.ts";

const MAX_SKEW_MS = 5_000;

/**
 * Uses the newest block that any endpoint of the database's chain knows: an older block only tells an earlier time.
 */
export function checkClock({ genesisHash, endpoints }: Diagnosis): Finding {
  const [newest] = endpoints
    .filter((each) => genesisHash === null || each.genesisHash === genesisHash)
    .flatMap(({ slot, blockTime, readAt }) =>
      slot === null || blockTime === null ? [] : [{ slot, skewMs: readAt - blockTime }],
    )
    .toSorted((one, other) => other.slot - one.slot);
  if (newest === undefined) {
    return warning("clock", {
      found: "cannot be compared",
      todo: "no endpoint tells the time of its newest block",
    });
  }
  const { skewMs } = newest;
  const found = `${Math.abs(skewMs / 1_000).toFixed(1)} s ${skewMs < 0 ? "behind" : "after"} the newest block`;
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return fine("clock", found);
  return warning("clock", {
    found,
    todo: "is this machine's clock synchronised (NTP)? else the chain stands still",
  });
}
