/** Properties that every reading of a chain has. */

/** The depth at which a block is buried. Only `finalized` can never be undone. */
export type Commitment = "processed" | "confirmed" | "finalized";

/** The commitments at which endpoints are compared; at processed each is in a block of its own. */
export type FirmCommitment = Exclude<Commitment, "processed">;

/** Time and source of a read: the slot its answer is true at, and the endpoint that gave it. */
export interface Reading {
  readonly slot: number;
  readonly endpoint: string;
}
