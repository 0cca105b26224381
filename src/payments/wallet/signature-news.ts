/** What the chain's answers about a signature mean for the instance that waits for it. */
import type { Evidence, Hint } from "../../ledger/belief.ts";
import type { AttemptFate, SignatureStatus } from "../../ledger/ledger.ts";

/**
 * How far a signature is. `landed`: final, its receipt says how. `confirmed`: without an error, and may still vanish.
 * `expired`: can never land. `unprovable`: past its last block, and the evidence of what became of it is missing. `absent`: unseen, and may still land. `pending`: seen, and nothing to tell yet.
 */
export type SignatureState = "landed" | "confirmed" | "expired" | "unprovable" | "absent" | "pending";

/** How far a signature is by its status, and where that is null by its fate, if it was asked for. */
export function standingOf(
  status: Hint<SignatureStatus> | null,
  fate: Evidence<AttemptFate> | undefined,
): SignatureState {
  if (status === null) {
    // A node may know nothing of what another one calls landed: asking for fates asks them all.
    if (fate === "landed" || fate === "unprovable") return fate;
    if (fate === "seen") return "pending";
    return fate === "dead" ? "expired" : "absent";
  }
  if (status.commitment === "finalized") return "landed";
  // An error below finalized may still vanish on a fork; it counts when it is final.
  return status.commitment === "confirmed" && status.error === null ? "confirmed" : "pending";
}
