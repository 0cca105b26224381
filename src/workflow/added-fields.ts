/** Fields of a snapshot that modules of the engine fill: a line for each. */
import type { SearchedSnapshot } from "./search-options.ts";

// A line for each module, which goes with the module.
// prettier-ignore
export type AddedFields =
  & SearchedSnapshot
  & object;
