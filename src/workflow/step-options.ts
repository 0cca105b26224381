/** Options of `workflow()` that modules of the engine bring: a line for each in each list. */
import type { AnyStateMachine } from "xstate";
import { historyProblems, inheritedHistory, type HistoryOption } from "./folding.ts";
import type { StateMeta } from "./chart.ts";
import { searchProblems, type GivenSearch, type SearchOption } from "./search-options.ts";
import { watchProblems, type GivenWatches, type WatchOption } from "./watch-option.ts";

/** The options of a workflow that modules bring. `S` are the names of the texts by which its instances are found. */
// A line for each module, which goes with the module.
// prettier-ignore
export type StepOptions<M extends AnyStateMachine, S extends string> =
  & HistoryOption
  & SearchOption<M, S>
  & WatchOption<M>
  & object
  & Record<never, M | S>;

/** The same, with their types laid aside. */
// A line for each module, which goes with the module.
// prettier-ignore
export type GivenStepOptions =
  & GivenSearch
  & GivenWatches
  & HistoryOption
  & object;

// A line for each module, which goes with the module.
// prettier-ignore
const CHECKS: readonly ((given: GivenStepOptions, metas: readonly StateMeta[]) => readonly string[])[] = [
  historyProblems,
  searchProblems,
  watchProblems,
];

/** `metas`: those of all states of the chart. */
export const stepOptionProblems = (given: GivenStepOptions, metas: readonly StateMeta[]): string[] =>
  CHECKS.flatMap((check) => check(given, metas));

// prettier-ignore
const INHERITED: readonly (keyof GivenStepOptions)[] = [
  inheritedHistory,
];

/** The options that hold for the child machines of a workflow, too. */
export const inheritedOptions = (given: GivenStepOptions): GivenStepOptions =>
  Object.fromEntries(INHERITED.map((name) => [name, given[name]]));
