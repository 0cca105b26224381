/**
 * Judges whether a signed version of a payment can still land, and so whether its words may be signed anew. The chain refuses
 * a second version by the marker: a wrong judgement costs a fee and pays nobody twice, so no endpoint delays the judgement for
 * long.
 */
import { BLOCKS_OF_SIGNED_BYTES } from "../../../machines/deposit-address-context.ts";
import type { AttemptRecord } from "../tables/payments.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { StoredPlan } from "./plans/stored-plan.ts";

/** Milliseconds from the signing on; afterwards one endpoint past the last height suffices. */
const PATIENCE_MS = 5 * 60_000;

/** The newest version of a payment. */
type Version = Pick<AttemptRecord, "lastValidBlockHeight" | "createdAt">;

/**
 * Heights at one commitment: `agreed` is reached by as many endpoints as must agree, `highest` by at least one
 * endpoint.
 */
interface ReachedHeights {
  readonly agreed: number;
  readonly highest: number;
}

/**
 * `agreed`: enough witnesses are past the last height. `presumed`: one endpoint is past the last height, and the others had five
 * minutes. A presumed death permits to sign the same words anew; the version keeps its cost.
 */
export type DeathEvidence = "agreed" | "presumed" | "none";

/**
 * Judges by heights whether a version can still land. A height above the last valid height means that the following
 * block, which also accepts the bytes, is over.
 */
export function deathOf(
  { lastValidBlockHeight, createdAt }: Version,
  { agreed, highest }: ReachedHeights,
  now: number,
): DeathEvidence {
  if (agreed > lastValidBlockHeight) return "agreed";
  const age = now - createdAt;
  // Below zero the clock was set back, and tells nothing.
  const isPatient = age >= 0 && age < PATIENCE_MS;
  return !isPatient && highest > lastValidBlockHeight ? "presumed" : "none";
}

/** Two minutes. */
const MAX_BLOCKS_AHEAD = 300;

/**
 * The last height to store for a version that is signed at these confirmed heights. The furthest endpoint counts, or the wait
 * would end too early; 300 blocks above the agreed height at most, or one endpoint would put the end off.
 */
export function lastHeightOf(
  { lastValidBlockHeight }: Pick<Version, "lastValidBlockHeight">,
  { agreed, highest }: ReachedHeights,
): number {
  // The block after the last one takes the bytes, too.
  const told = Math.max(lastValidBlockHeight + 1, highest + BLOCKS_OF_SIGNED_BYTES);
  return Math.min(told, agreed + MAX_BLOCKS_AHEAD + BLOCKS_OF_SIGNED_BYTES);
}

/** Whether the refund was planned by an operator's word that is no longer the newest. */
export async function isOvertaken(
  storage: Pick<PaymentStorage, "vouchings">,
  { word }: Pick<StoredPlan, "word">,
  address: string,
): Promise<boolean> {
  return word !== undefined && (await storage.vouchings(address)).at(-1)?.id !== word;
}
