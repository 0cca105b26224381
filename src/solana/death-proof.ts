/** Types of the proof of death: its kind, and the progress of a walk through blocks. */

/** The kind of proof that a transaction never landed. */
export type DeathProof = "statuses" | "blocks";

/** The progress of a walk through the blocks of one endpoint: the last block that was read. */
export interface BlockWalkState {
  readonly slot: number;
  readonly blockhash: string;
  readonly height: number;
}
