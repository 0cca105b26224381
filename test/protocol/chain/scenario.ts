/** What a search of the chain's model lets happen, and which rule it does without. */
import type { Chunks } from "./payouts.ts";

/** The rules that can be taken out, one name for each way in which the model then breaks. */
export type ChainRule =
  | "K1: nothing closes a marker"
  | "K2: the rent goes in the same transaction"
  | "K3: the cut is stored"
  | "K4: the length tells whom it paid"
  | "K4: every reader counts the members alike"
  | "K4: no member, and go, has a length"
  | "K4: a foreign marker is told by its own transactions"
  | "K5: the fee goes with chunk 0"
  | "K5: in an order of one chunk the fee goes never alone"
  | "K6: later chunks wait for the final go"
  | "K7: rests wait until all is decided"
  | "K8: what is given up gets its marker"
  | "K9: only what is final is told"
  | "K10: one liar is not believed"
  | "K11: nobody is an outcome"
  | "K11: leaving out is an outcome"
  | "K12: what goes elsewhere has a marker"
  | "K12: number and sum are fixed when approved";

/** One search. */
export interface Scenario {
  readonly chunks: Chunks;
  /** What comes, in this order: twice what the order needs, and 1, unless it says otherwise. */
  readonly deposits?: readonly number[];
  /** Whom no transaction can pay. */
  readonly unpayable?: readonly (number | "the treasury")[];
  /** How often it may be approved that all money goes to another address than the sender's. */
  readonly redirects?: number;
  /** What somebody does who has the address's key: he makes one marker, takes all once, or takes whatever comes. */
  readonly thief?: readonly ("forges" | "steals" | "sweeps")[];
  readonly without?: ChainRule;
}
