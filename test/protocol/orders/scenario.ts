/** What a search of the order's model lets happen, and which rule it does without. */

/** The rules that can be taken out, one name for each way in which the model then breaks; rows of the table go by `edges`. */
export type OrderRule =
  | "K17: a cancel reads whether a deposit is there"
  | "K16: what is not worth its refund ends at the window"
  | "a refusal ends only when every attempt of chunk 0 is finalized-dead"
  | "a hold stops a go"
  | "no hold stops a no-go or a later chunk"
  | "what is made again pays nobody where nobody was wanted"
  | "nothing late is refused from the first reading without the marker on"
  | "nothing is given back from the first reading without the marker on"
  | "no go of culprits is refused before the order is"
  | "only a person declines"
  | "the window ends where each witness's reading leads to one row"
  | "a deposit is what both witnesses say at least"
  | "without a price the window refuses"
  | "a rest waits for the screening of the payers"
  | "a rest waits for the screening of the sender"
  | "a payer unknown for an hour is a hold"
  | "a released payer stays released"
  | "a payer of dust needs no screening";

/** What may happen besides deposits, holds and bytes that land late or never. */
export type Happening =
  /** Payers and the sender are unknown, clean or refused. */
  | "screening"
  /** The price comes and goes. */
  | "prices"
  /** All witnesses say once that a marker stands. */
  | "lies"
  /** No payee of chunk 0 can take the money. */
  | "culprits"
  /** The database is set back between the journal's line and the end; a start ends the order later. */
  | "set back";

/** One search. */
export interface Scenario {
  /** `one`: this copy alone signs. `any`: others of any age land what they like. */
  readonly copies: "one" | "any";
  readonly happens?: readonly Happening[];
  /** The full deposit, too, is worth less than its refund costs. */
  readonly isSmall?: true;
  readonly without?: OrderRule;
}
