/**
 * When the words of a marked payment may be signed anew. The marker makes a second version harmless, so signing anew is a
 * matter of cost and not of safety: no endpoint holds it up for long.
 */
import type { AttemptRecord } from "../records.ts";

/** How long all witnesses are waited for, from the signing on; afterwards one endpoint that has moved on suffices. */
const PATIENCE_MS = 5 * 60_000;

/** The newest version of a payment. */
type Version = Pick<AttemptRecord, "lastValidBlockHeight" | "createdAt">;

/** Finalized heights: one that as many endpoints as must agree have reached, and one that any has. */
export interface ReachedHeights {
  readonly agreed: number;
  readonly highest: number;
}

/**
 * `agreed`: enough witnesses are past the last height. `presumed`: an endpoint that is stuck, or contradicts, was waited for, and
 * another one is past the last height: enough to sign the same words anew, and for nothing else.
 */
export type Death = "agreed" | "presumed" | "none";

/** Judges by heights whether a version can still land. A height above the last one includes the block after it, which accepts it, too. */
export function deathOf(
  { lastValidBlockHeight, createdAt }: Version,
  { agreed, highest }: ReachedHeights,
  now: number,
): Death {
  if (agreed > lastValidBlockHeight) return "agreed";
  const age = now - createdAt;
  // Below zero the clock was set back, and tells nothing.
  const isPatient = age >= 0 && age < PATIENCE_MS;
  return !isPatient && highest > lastValidBlockHeight ? "presumed" : "none";
}
