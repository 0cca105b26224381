/** What modules of the engine add to each step: a line for each in the list. */
import type { Write } from "../../storage/storage.ts";
import type { AddedFields } from "./added-fields.ts";
import type { ChartSnapshot } from "./chart.ts";
import { searchAddition } from "./search-fields.ts";
import type { StepContext } from "./step-context.ts";
import type { AnyWorkflow } from "./workflow.ts";

/**
 * What a module adds to each step. Pure. It is asked for a workflow without its option, too: what a version before that, or
 * another program, has added goes with the next step.
 */
interface StepAddition {
  /** The field of the snapshot that it fills. The field is of the instance as it stands: no row of the history holds it. */
  readonly field: keyof AddedFields;
  /** The snapshot behind a step, with that field. @throws UnstorableValue */
  filled(workflow: AnyWorkflow, after: ChartSnapshot): ChartSnapshot;
  /** Rows for the commit of the step, behind those of `project`. */
  writes(step: StepContext): readonly Write<never>[];
}

// A line for each module, which goes with the module.
// prettier-ignore
const STEP_ADDITIONS: readonly StepAddition[] = [
  searchAddition,
];

const NONE: readonly never[] = [];

/** The snapshot behind a step, as modules fill it. */
export function withAdditions(workflow: AnyWorkflow, after: ChartSnapshot): ChartSnapshot {
  let filled = after;
  for (const each of STEP_ADDITIONS) filled = each.filled(workflow, filled);
  return filled;
}

/** The snapshot as a row of the history holds it. */
export function withoutAdditions(snapshot: ChartSnapshot): ChartSnapshot {
  const left = { ...snapshot };
  for (const { field } of STEP_ADDITIONS) delete left[field];
  return left;
}

/** The rows that modules add to the commit of a step. */
export function addedWrites(step: StepContext): readonly Write<never>[] {
  let added: readonly Write<never>[] = NONE;
  for (const each of STEP_ADDITIONS) {
    const writes = each.writes(step);
    if (writes.length > 0) added = added.length === 0 ? writes : [...added, ...writes];
  }
  return added;
}
