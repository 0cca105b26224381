/** Interprets the chain's answers about a signature for the waiting instance. */
import type { Evidence, Hint } from "../../ledger/belief.ts";
import type { AttemptFate, SignatureStatus } from "../../ledger/ledger.ts";

/**
 * The status of a signature. `landed`: final; the receipt tells the result. `confirmed`: without an error, but may
 * still vanish. `expired`: can never land. `unprovable`: past its last block, without evidence. `absent`: unseen, but
 * may still land. `pending`: seen, without news.
 */
export type SignatureState = "landed" | "confirmed" | "expired" | "unprovable" | "absent" | "pending";

/** The status of a signature by the node's status, or, if that is null, by its fate, if asked for. */
export function standingOf(
  status: Hint<SignatureStatus> | null,
  fate: Evidence<AttemptFate> | undefined,
): SignatureState {
  if (status === null) {
    // A node may not know a transaction that a second node calls landed: fates ask all nodes. asking for fates asks
    // them all.
    if (fate === "landed" || fate === "unprovable") return fate;
    if (fate === "seen") return "pending";
    return fate === "dead" ? "expired" : "absent";
  }
  if (status.commitment === "finalized") return "landed";
  // An error below finalized may still vanish on a fork; it counts when it is final.
  return status.commitment === "confirmed" && status.error === null ? "confirmed" : "pending";
}
