/** Effects that are done in the commit of the step that asks for them, in place of a task and a commit of their own. */
import type { TaskRecord, Write } from "../../../../storage/storage.ts";
import type { PlannedStep } from "../../../workflow/plan-step.ts";
import { causeText } from "../../../workflow/step-cause.ts";
import { fromJson } from "../../../workflow/values.ts";
import type { CommittingStep, DoneWithStep } from "../../../workflow/with-step.ts";
import type { WorkflowRegistry } from "../../../workflow/workflow-registry.ts";
import type { EngineModule } from "../../engine-module.ts";
import type { BeginningInstance, DoneParts } from "../../kernel/commit-look.ts";

export const effectsWithStep: EngineModule = {
  name: "with-step",
  begin: ({ workflows }) => ({
    look: (parts, companions) => {
      const isDoable = (task: TaskRecord): boolean => withStepOf(workflows, task) !== undefined;
      const hasSome = parts.some(({ follows }) => follows.arms.some(isDoable));
      return hasSome ? doneWithStep(workflows, parts, companions) : null;
    },
  }),
};

type DoWithStep = (step: CommittingStep<unknown, never>) => Promise<DoneWithStep<never> | null>;

/** Null where none of them is done. */
async function doneWithStep(
  workflows: WorkflowRegistry,
  parts: readonly PlannedStep[],
  companions: readonly Write<never>[],
): Promise<DoneParts | null> {
  const begins: BeginningInstance[] = [];
  const changed = new Map<PlannedStep, PlannedStep["follows"]>();
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

/** Tasks of a commit that the commit itself can carry out, by their `withStep` function. */
function doableIn(
  workflows: WorkflowRegistry,
  { follows }: PlannedStep,
): ReadonlyMap<DoWithStep, readonly [TaskRecord, ...TaskRecord[]]> {
  const found = new Map<DoWithStep, [TaskRecord, ...TaskRecord[]]>();
  for (const task of follows.arms) {
    const withStep = withStepOf(workflows, task);
    if (withStep === undefined) continue;
    const before = found.get(withStep);
    if (before === undefined) found.set(withStep, [task]);
    else before.push(task);
  }
  return found;
}

function withStepOf(
  workflows: WorkflowRegistry,
  { kind, workflow, name }: TaskRecord,
): DoWithStep | undefined {
  if (kind !== "effect") return undefined;
  const effect = workflows.get(workflow)?.effects.get(name);
  return typeof effect === "object" && "withStep" in effect ? effect.withStep : undefined;
}

async function doneTogether(
  withStep: DoWithStep,
  tasks: readonly [TaskRecord, ...TaskRecord[]],
  { follows, companions }: Pick<PlannedStep, "follows"> & Pick<CommittingStep<unknown, never>, "companions">,
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
