/** In which blocks signed bytes can land, and how far these were looked through. */

/** When a transaction over a blockhash can land. */
export interface LandingWindow {
  /** No block of an earlier slot can hold it. */
  readonly firstSlot: number;
  /** The block after this height is the last one that takes it. */
  readonly lastValidBlockHeight: number;
}

/** What proves that a transaction never landed. */
export type DeathProof = "statuses" | "blocks";

/** How far the blocks of one endpoint were walked: the last one, which did not hold the message. */
export interface BlockWalk {
  readonly slot: number;
  readonly blockhash: string;
  readonly height: number;
}
