/** Fields that modules of the engine keep in snapshots and in the history: a line for each in each list. */
import { FOLDED, type FoldedSnapshot } from "./folding.ts";
import type { SearchedSnapshot } from "./search-options.ts";
import type { WatchedSnapshot, WatchedWork } from "./watch-option.ts";

/** Fields of a snapshot that modules fill. */
// A line for each module, which goes with the module.
// prettier-ignore
export type AddedFields =
  & FoldedSnapshot
  & SearchedSnapshot
  & WatchedSnapshot
  & object;

/** The reasons for waiting that modules add. */
// A line for each module, which goes with the module; prettier would join them.
// prettier-ignore
export type AddedWork =
  & WatchedWork
  & object;

/** Types of the rows that modules add behind a step. Such a row holds the snapshot, and stands for the steps before it. */
// prettier-ignore
export const ADDED_ROWS: readonly string[] = [
  FOLDED,
];
