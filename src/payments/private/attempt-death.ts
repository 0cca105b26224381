/** When bytes that the service has signed can land no more. */
import type { AttemptRecord } from "../frame/tables/attempts.ts";

/** For how many blocks the chain takes bytes over a blockhash, the block after the last one included. */
const BLOCKS_OF_SIGNED_BYTES = 151;
/** Two minutes. */
const MAX_BLOCKS_AHEAD = 300;

/** Whether bytes can land no more, at a finalized height that as many endpoints as must agree have reached. */
export function isDead(
  { lastValidBlockHeight }: Pick<AttemptRecord, "lastValidBlockHeight">,
  height: number,
): boolean {
  return height > lastValidBlockHeight;
}

/**
 * The last height to store for bytes that are signed at these confirmed heights. The furthest endpoint counts, or the wait
 * would end too early; 300 blocks above the agreed height at most, or one endpoint would put the end off.
 */
export function lastHeightOf(
  { lastValidBlockHeight }: Pick<AttemptRecord, "lastValidBlockHeight">,
  { agreed, highest }: { readonly agreed: number; readonly highest: number },
): number {
  // The block after the last one takes the bytes, too.
  const told = Math.max(lastValidBlockHeight + 1, highest + BLOCKS_OF_SIGNED_BYTES);
  return Math.min(told, agreed + MAX_BLOCKS_AHEAD + BLOCKS_OF_SIGNED_BYTES);
}
