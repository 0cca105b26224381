/** What a search of the levels' model lets happen, and which rules it does without. */

/** The rules of K15 that can be taken out of this model. */
export type LevelsRule =
  | "K15: a rest is booked by its own signature"
  | "K15: nothing is evaluated while a rest is out"
  | "K15: no reading counts that is older than the last booking"
  | "K15: deposits' own signatures are listed"
  | "K15: a deposit is what the witnesses say at least"
  | "K15: a shortage is what the witnesses say at most"
  | "K15: witnesses need not say the same"
  | "K15: two of the three count, not all"
  | "K15: each answer counts with its own slot"
  | "K15: answers are at most 150 slots apart";

/** What is read: by two honest witnesses, one of them behind; or with a liar among two or three. */
export type Endpoints =
  | { readonly kind: "two honest"; readonly second: "behind for a while" | "behind for ever" }
  /** Both at the same slot. */
  | { readonly kind: "one of two lies" }
  /** Each with its own slot: the honest one of two is up to date or behind, of three there are both. */
  | { readonly kind: "own slots"; readonly asked: 2 | 3; readonly lies: readonly number[] };

/** One search. */
export interface Scenario {
  /** What comes, in this order. */
  readonly deposits: readonly number[];
  /** Takes all that is there, once, before or after any reading. */
  readonly thief?: "steals";
  /** Asserted rests land on the very balance that they name, bare ones if there is enough. */
  readonly rests?: "asserted" | "bare";
  readonly endpoints?: Endpoints;
  /** Sums that a hint may bring for a rest, in place of what is there. */
  readonly hints?: readonly number[];
  /** No endpoint has the address's history. */
  readonly history?: "none";
  readonly without?: LevelsRule;
}
