/** What every reading of a chain says about itself. */

/** How deeply a block is buried. Only `finalized` can never be undone. */
export type Commitment = "processed" | "confirmed" | "finalized";

/** The commitments at which endpoints are compared; at processed each is in a block of its own. */
export type FirmCommitment = Exclude<Commitment, "processed">;

/** Where and when a read was made: the slot its answer is true at, and the endpoint that gave it. */
export interface Reading {
  readonly slot: number;
  readonly endpoint: string;
}
