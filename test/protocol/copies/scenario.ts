/** What a search of the copies' model lets happen, and which rules it does without. */

/** The rules that can be taken out. */
export type CopiesRule =
  | "K2: the rent goes in the same transaction"
  | "K6: later chunks wait for the final go"
  | "K7: rests wait until all is decided"
  | "K17: the journal has a line of each end without a decision"
  | "K17: the row is closed before its line is written"
  | "K17: the line has the state and the status of the order"
  | "K17: an end without a decision waits until own attempts are dead"
  | "K17: an end without a decision waits 151 blocks after a start";

/** One search. */
export interface Scenario {
  /** What comes, in this order; the order needs 4. */
  readonly deposits: readonly number[];
  readonly copies: 1 | 2;
  /** Whether any copy may be set back to a backup of the first one, as often as one likes. */
  readonly restores: boolean;
  /** Bytes land until 151 blocks have passed, or for ever. */
  readonly bytes: "die" | "live for ever";
  /**
   * `told`: only what is told while nothing stands on the chain matters. Then chunk 0 is signed to all, the money may be worth
   * less than its cost, and the program keeps a journal.
   */
  readonly about: "payments" | "told";
  readonly without?: CopiesRule;
}

/** Whether the scenario keeps a rule. */
export function has({ without }: Scenario, rule: CopiesRule): boolean {
  return without !== rule;
}
