/** Commits the end of a task together with what follows from it. */
import type { EventObject } from "xstate";
import { CommitUnknown } from "../../../storage/decided.ts";
import { StorageUnusable } from "../../../storage/storage-unusable.ts";
import type { ClaimedTask, CommitResult, EngineStorage } from "../../../storage/storage.ts";
import type { Clock, Logger } from "../../core/runtime.ts";
import type { WorkflowRegistry } from "../../workflow/workflow-registry.ts";
import type { StepCommitAdditions } from "./step-commit-writer.ts";
import type { RatedLimit } from "../../workflow/own-limit.ts";
import { TaskMovedError } from "./held-task-list.ts";
import type { StepHandler } from "./step-handler.ts";
import type { EffectRun } from "../../workflow/effect-run.ts";
import type { AnyEffect } from "../../workflow/workflow.ts";

/** Everything that doing and ending a task needs. */
export interface TaskParts<W> {
  readonly steps: StepHandler<W>;
  readonly workflows: WorkflowRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  /** Read for a context that is not in the task, and for what a message is to retry. */
  readonly storage: Pick<EngineStorage, "tasks" | "load">;
  readonly hooks: EffectHooks;
}

/** Words of modules about a run. */
export interface EffectHooks {
  /** Asked before each call of a handler or a promise that has limits. Rejects with `TaskWaitsError` where it has to wait. */
  before(limits: readonly RatedLimit[]): Promise<void>;
  /** Carries out an effect of a kind that a module brings, its end included; null for another one. */
  endedBy(effect: StartedEffect): Promise<void> | null;
}

/** A run of an effect that has more than its handler. */
export interface StartedEffect {
  readonly task: ClaimedTask;
  readonly run: EffectRun;
  readonly handler: Exclude<AnyEffect, (...given: never[]) => unknown>;
}

/** The parts of the commit that ends a task; `event` is for the instance that the task belongs to. */
export type TaskEnd<W> = Omit<StepCommitAdditions<W>, "consumes" | "cause"> & {
  readonly event?: EventObject | undefined;
};

/** The parts of a commit that end a task. */
type Consumption<W> = Pick<StepCommitAdditions<W>, "consumes" | "cause">;

/** An effect whose outcome another commit has overtaken looks again at once; this often in a row is no race. */
export const MAX_TRIES = 3;

export type Refusal = Exclude<CommitResult, { ok: true }>;

/** Returns why the commit was refused, null when the task has ended, by another holder too. An event that changes nothing ends it. */
export async function endTask<W>(
  around: TaskParts<W>,
  task: ClaimedTask,
  end: TaskEnd<W>,
): Promise<Refusal | null> {
  const { steps } = around;
  const { event } = end;
  const together = Object.assign(consumptionOf<W>(task), end);
  if (event !== undefined) {
    const sent = await steps.send(task.instance, event, together);
    if (sent.kind === "stepped") return null;
    if (sent.kind === "refused") return unlessTaken(sent.result);
  }
  const result = await steps.commit(together);
  return result.ok ? null : unlessTaken(result);
}

/** Like `endTask`; throws when the commit was refused, so that the task is tried again later. */
export async function endTaskOrThrow<W>(
  around: TaskParts<W>,
  task: ClaimedTask,
  end: TaskEnd<W>,
): Promise<void> {
  throwRefusal(await endTask(around, task, end));
}

/** Keeps in a task how its work has ended, where the step behind it failed: its next tries do that step, and no work. Throws always. */
export async function keepEnd<W>(
  { steps, clock }: TaskParts<W>,
  task: ClaimedTask,
  { payload, error }: { readonly payload: string; readonly error: unknown },
): Promise<never> {
  // A database that is away keeps nothing, and the step itself may have been made.
  if (error instanceof StorageUnusable || error instanceof CommitUnknown) throw error;
  await steps.amend({ task: task.id, name: task.name, payload, dueAt: clock.now(), delayMs: 0 });
  throw new TaskMovedError(`${task.id} has its end, which is still to be told`);
}

/** The parts of a commit that end this task, and tell that the task made it; refused when another holder has the task by now. */
export function consumptionOf<W>(task: ClaimedTask): Consumption<W> {
  return { consumes: { task: task.id, token: task.token }, cause: task };
}

/** Null when another holder has the task now: the other holder's outcome counts, and nothing is left to do here. */
export function unlessTaken(result: Refusal): Refusal | null {
  return result.conflict === "token" ? null : result;
}

export function throwRefusal(refused: object | null): void {
  if (refused !== null) throw new Error(`the commit was refused: ${JSON.stringify(refused)}`);
}
