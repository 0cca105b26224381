/** Options of an engine that its modules bring: a line for each in each list. */
import type { z } from "zod";
import { checkArchive, retentionOptions, type RetentionOptions } from "./retention-options.ts";
import { checkTransactions } from "./transaction-check.ts";
import { checkWatched, watcherOptions, type WatcherOptions } from "./watcher-options.ts";

export const MODULE_OPTIONS = {
  ...retentionOptions,
  ...watcherOptions,
};

/** Problems of options that are well-formed one by one. */
// A line for each module, which goes with the module.
// prettier-ignore
export const OPTION_CHECKS: readonly ((options: object, context: z.RefinementCtx) => void)[] = [
  checkArchive,
  checkTransactions,
  checkWatched,
];

// A line for each module, which goes with the module.
// prettier-ignore
export type ModuleOptions =
  & RetentionOptions
  & WatcherOptions
  & object;
