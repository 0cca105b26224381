/** Options of `workflow()` that modules of the engine bring: a line for each in each list. */
import type { AnyStateMachine } from "xstate";
import { historyProblems, inheritedHistory, type HistoryOption } from "./folding.ts";
import { searchProblems, type GivenSearch, type SearchOption } from "./search-options.ts";

/** The options of a workflow that modules bring. `S` are the names of the texts by which its instances are found. */
// A line for each module, which goes with the module.
// prettier-ignore
export type StepOptions<M extends AnyStateMachine, S extends string> =
  & HistoryOption
  & SearchOption<M, S>
  & object
  & Record<never, M | S>;

/** The same, with their types laid aside. */
// A line for each module, which goes with the module.
// prettier-ignore
export type GivenStepOptions =
  & GivenSearch
  & HistoryOption
  & object;

// A line for each module, which goes with the module.
// prettier-ignore
const CHECKS: readonly ((given: GivenStepOptions) => readonly string[])[] = [
  historyProblems,
  searchProblems,
];

export const stepOptionProblems = (given: GivenStepOptions): string[] =>
  CHECKS.flatMap((check) => check(given));

// prettier-ignore
const INHERITED: readonly (keyof GivenStepOptions)[] = [
  inheritedHistory,
];

/** The options that hold for the child machines of a workflow, too. */
export const inheritedOptions = (given: GivenStepOptions): GivenStepOptions =>
  Object.fromEntries(INHERITED.map((name) => [name, given[name]]));
