/** Parts of each step that modules of the engine add: a line for each in the list. */
import type { CommitParts, HistoryRecord, Write } from "../../storage/storage.ts";
import type { AddedFields, AddedWork } from "./added-fields.ts";
import type { ChartSnapshot } from "./chart.ts";
import { foldingAddition } from "./folding.ts";
import { searchAddition } from "./search-fields.ts";
import type { StepContext } from "./step-context.ts";
import { watchAddition } from "./watch-rows.ts";
import type { AnyWorkflow } from "./workflow.ts";

/** A step on its way into its commit. */
interface StepRows {
  readonly after: ChartSnapshot;
  /** The rows of the steps before the last, where it stands for several. */
  readonly earlier: readonly HistoryRecord[];
  readonly history: HistoryRecord;
  /** Rows of its history that the last row stands for. */
  readonly forgets?: NonNullable<CommitParts["forgets"]>[number];
}

/** A step as its chart has made it. */
type MadeStep = Pick<StepContext, "workflow" | "before" | "step">;

/**
 * The part of each step that a module adds. Pure. It is asked for a workflow without its option, too: what a version before
 * that, or another program, has added goes with the next step.
 */
interface StepAddition {
  /** The field of the snapshot that it fills. The field is of the instance as it stands: no row of the history holds it. */
  readonly field: keyof AddedFields;
  /** The snapshot behind a step, with that field. A chart leaves it out. @throws UnstorableValue */
  filled(after: ChartSnapshot, made: MadeStep): ChartSnapshot;
  /** Rows for the commit of the step, behind those of `project`. */
  readonly writes?: (step: StepContext) => readonly Write<never>[];
  /** Its reasons why an instance with this snapshot waits. */
  readonly work?: (snapshot: AddedFields) => Partial<AddedWork>;
  /** The step with a row of the history behind its own; `own` is what such a row holds of a snapshot. */
  readonly rows?: <Step extends StepRows>(
    workflow: AnyWorkflow,
    made: Step,
    own: (after: ChartSnapshot) => ChartSnapshot,
  ) => Step;
}

// A line for each module, which goes with the module.
// prettier-ignore
const STEP_ADDITIONS: readonly StepAddition[] = [
  foldingAddition,
  searchAddition,
  watchAddition,
];

const WRITES = STEP_ADDITIONS.flatMap(({ writes }) => writes ?? []);
const ROWS = STEP_ADDITIONS.flatMap(({ rows }) => rows ?? []);

const NONE: readonly never[] = [];

/** The snapshot behind a step, as modules fill it. */
export function withAdditions(made: MadeStep): ChartSnapshot {
  let filled = made.step.after;
  for (const each of STEP_ADDITIONS) filled = each.filled(filled, made);
  return filled;
}

/** The reasons of all modules why an instance with this snapshot waits. */
export const addedWork = (snapshot: AddedFields): AddedWork =>
  Object.assign({}, ...STEP_ADDITIONS.map(({ work }) => work?.(snapshot))) as AddedWork;

/** The step with the rows of the history that modules add to it; `own` is what such a row holds of a snapshot. */
export function withAddedRows<Step extends StepRows>(
  workflow: AnyWorkflow,
  made: Step,
  own: (after: ChartSnapshot) => ChartSnapshot,
): Step {
  let added = made;
  for (const rows of ROWS) added = rows(workflow, added, own);
  return added;
}

/**
 * The part of a snapshot that a folded row of the history holds. Parts lent to effects, children still to begin and fields of
 * modules belong to the present instance.
 */
export function ownSnapshot({ lent: _, unborn: __, ...own }: ChartSnapshot): ChartSnapshot {
  return withoutAdditions(own);
}

/** The snapshot without what modules fill. */
export function withoutAdditions(snapshot: ChartSnapshot): ChartSnapshot {
  const left = { ...snapshot };
  for (const { field } of STEP_ADDITIONS) delete left[field];
  return left;
}

/** The rows that modules add to the commit of a step. */
export function addedWrites(step: StepContext): readonly Write<never>[] {
  let added: readonly Write<never>[] = NONE;
  for (const each of WRITES) {
    const writes = each(step);
    if (writes.length > 0) added = added.length === 0 ? writes : [...added, ...writes];
  }
  return added;
}
