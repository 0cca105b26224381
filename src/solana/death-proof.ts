/** How the death of signed bytes is proved, and how far the blocks that could hold them were looked through. */

/** What proves that a transaction never landed. */
export type DeathProof = "statuses" | "blocks";

/** How far the blocks of one endpoint were walked: the last one, which did not hold the message. */
export interface BlockWalkState {
  readonly slot: number;
  readonly blockhash: string;
  readonly height: number;
}
