/** For each rule of the copies' model the break that is possible without it. */
import type { Break } from "../expectations.ts";
import type { CopiesRule, Scenario } from "./scenario.ts";
import { CRASHES, JOURNAL, RESTORED } from "./worlds.ts";

/** One for each rule. */
export const BREAKS: readonly Break<CopiesRule, Scenario>[] = [
  {
    without: "K2: the rent goes in the same transaction",
    in: CRASHES,
    promise: "everybody is paid once",
    acts: "4 come → reads → finds the money → reads → signs chunk 0: without b → chunk 0 lands: without b → reads → signs chunk 0: without b → chunk 0 lands: without b",
  },
  {
    without: "K6: later chunks wait for the final go",
    in: RESTORED,
    promise: "an order that is refused pays nobody",
    acts: "4 come → reads → finds the money → reads → signs chunk 1: all → reads → is declined by a person → reads → chunk 1 lands: all → signs chunk 0: the no-go → chunk 0 lands: the no-go",
  },
  {
    without: "K7: rests wait until all is decided",
    in: CRASHES,
    promise: "who was told unpaid is not paid",
    acts: "4 come → reads → finds the money → reads → signs chunk 0: all → reads → is declined by a person → reads → chunk 0 lands: all → tells it refunded",
  },
  {
    without: "K17: the journal has a line of each end without a decision",
    in: JOURNAL,
    promise: "who was told failed or cancelled is not paid",
    acts: "a backup is made → reads → 4 come → is cancelled: it is over → copy 0 begins from the backup → reads → finds the money → reads → signs chunk 0: all → chunk 0 lands: all",
  },
  {
    without: "K17: the row is closed before its line is written",
    in: JOURNAL,
    promise: "who was told failed or cancelled is not paid",
    acts: "a backup is made → reads → 4 come → is cancelled: writes the line → reads → finds the money → reads → signs chunk 0: all → chunk 0 lands: all → copy 0 begins from the backup → starts, and reads the line",
  },
  {
    without: "K17: the line has the state and the status of the order",
    in: { ...JOURNAL, restores: false },
    promise: "an order at work is not cancelled",
    acts: "reads → 4 come → is cancelled: writes the line → reads → finds the money → crashes → starts, and reads the line",
  },
  {
    without: "K17: an end without a decision waits until own attempts are dead",
    in: JOURNAL,
    promise: "who was told failed or cancelled is not paid",
    acts: "4 come → reads → finds the money → reads → signs chunk 0: all → reads → is declined by a person → reads → chunk 0 lands: all → is worth less than its cost: closes the row → writes the line → is over and tells failed",
  },
  {
    without: "K17: an end without a decision waits 151 blocks after a start",
    in: JOURNAL,
    promise: "who was told failed or cancelled is not paid",
    acts: "4 come → reads → finds the money → a backup is made → reads → signs chunk 0: all → copy 0 begins from the backup → starts → reads → is declined by a person → reads → chunk 0 lands: all → is worth less than its cost: closes the row → writes the line → is over and tells failed",
  },
];
