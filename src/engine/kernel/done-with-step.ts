/** Effects that are done in the commit of the step that asks for them, in place of a task and a commit of their own. */
import type { CommitResult, TaskRecord, Write } from "../../../storage/storage.ts";
import type { StepCommit } from "../../workflow/plan-step.ts";
import { causeText } from "../../workflow/step-cause.ts";
import type { WorkflowRegistry } from "../../workflow/workflow-registry.ts";
import { fromJson } from "../../workflow/values.ts";
import { commitCarrier } from "../../workflow/carried.ts";
import type { StartRequest } from "../../workflow/effect-run.ts";
import type { CommittingStep, DoneWithStep } from "../../workflow/effects.ts";

type DoWithStep = (step: CommittingStep<unknown, never>) => Promise<DoneWithStep<never> | null>;

/** The parts of a commit once their effects are done with it, and the instances that begin besides. */
export interface DoneParts {
  readonly parts: readonly StepCommit[];
  readonly begins: readonly BeginningInstance[];
}

/** How an instance begins. */
export interface BeginningInstance {
  readonly start: StartRequest;
  /** The cause of the start: a timer that has fired with the step. Default: the cause of the rest of the commit. */
  readonly cause?: string;
  /** Whether a timer of it that is due at once fires in the same commit. */
  readonly firesTimers?: boolean;
}

/** Null where no effect of these parts can be done with its step. */
export async function doneWithStep(
  workflows: WorkflowRegistry,
  parts: readonly StepCommit[],
  companions: readonly Write<never>[],
): Promise<DoneParts | null> {
  const begins: BeginningInstance[] = [];
  const changed = new Map<StepCommit, StepCommit["follows"]>();
  for (const part of parts) {
    for (const [withStep, tasks] of doableIn(workflows, part)) {
      const follows = changed.get(part) ?? part.follows;
      const done = await doneTogether(withStep, tasks, { follows, companions });
      if (done === null) continue;
      const arms = follows.arms.filter((task) => !done.isWhole || !tasks.includes(task));
      changed.set(part, { ...follows, arms, writes: done.writes });
      const { fired } = part;
      begins.push(
        ...done.starts.map((start) => ({ start, ...(fired && { cause: causeText(fired, start.id) }) })),
      );
    }
  }
  if (changed.size === 0) return null;
  return { parts: parts.map((part) => ({ ...part, follows: changed.get(part) ?? part.follows })), begins };
}

/** Whether a commit was refused by a part behind its first `starts`, `writes` and `carried`. */
export function isRefusedBehind(
  result: CommitResult,
  own: { readonly starts: number; readonly writes: number; readonly carried: number },
): boolean {
  if (result.ok) return false;
  const refused = commitCarrier.refused(result);
  if (refused !== null) return (refused.place ?? own.carried) >= own.carried;
  if (!("index" in result)) return false;
  return result.index >= (result.conflict === "write" ? own.writes : own.starts);
}

/** Tasks of a commit that the commit itself can carry out, by their `withStep` function. */
function doableIn(
  workflows: WorkflowRegistry,
  { follows }: StepCommit,
): ReadonlyMap<DoWithStep, readonly [TaskRecord, ...TaskRecord[]]> {
  const found = new Map<DoWithStep, [TaskRecord, ...TaskRecord[]]>();
  for (const task of follows.arms) {
    if (task.kind !== "effect") continue;
    const effect = workflows.get(task.workflow)?.effects.get(task.name);
    if (typeof effect !== "object" || !("withStep" in effect) || effect.withStep === undefined) continue;
    const withStep: DoWithStep = effect.withStep;
    const before = found.get(withStep);
    if (before === undefined) found.set(withStep, [task]);
    else before.push(task);
  }
  return found;
}

async function doneTogether(
  withStep: DoWithStep,
  tasks: readonly [TaskRecord, ...TaskRecord[]],
  { follows, companions }: Pick<StepCommit, "follows"> & Pick<CommittingStep<unknown, never>, "companions">,
): Promise<DoneWithStep<never> | null> {
  const [{ instance }] = tasks;
  const asked = tasks.map(({ payload }) => fromJson(JSON.parse(payload)));
  try {
    return await withStep({ instance, asked, writes: follows.writes, companions });
  } catch {
    // The step does not depend on it. The task will meet the same fault, and be reported with it.
    return null;
  }
}
