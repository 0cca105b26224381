/** Commits the end of a task together with what follows from it. */
import type { EventObject } from "xstate";
import type { ClaimedTask, CommitResult } from "../../storage/storage.ts";
import type { Clock } from "../runtime.ts";
import type { RegisteredWorkflows } from "./registered-workflows.ts";
import type { Companions, Steps } from "./steps.ts";

/** What doing tasks needs. */
export interface TaskSurroundings<W> {
  readonly steps: Steps<W>;
  readonly workflows: RegisteredWorkflows;
  readonly clock: Clock;
}

/** What follows from the end of a task; `event` is for the instance that the task belongs to. */
export type TaskEnd<W> = Omit<Companions<W>, "consumes"> & { readonly event?: EventObject | undefined };

export type Refusal = Exclude<CommitResult, { ok: true }>;

/**
 * Commits the end of the task with what follows from it; an event that changes nothing still ends the task. Returns why
 * the commit was refused, or null when the task has ended, also when another holder has ended it.
 */
export async function endTask<W>(
  steps: Steps<W>,
  task: ClaimedTask,
  { event, ...companions }: TaskEnd<W>,
): Promise<Refusal | null> {
  const together = { consumes: consumedBy(task), ...companions };
  if (event !== undefined) {
    const sent = await steps.send(task.instance, event, together);
    if (sent.kind === "stepped") return null;
    if (sent.kind === "refused") return unlessTaken(sent.result);
  }
  const result = await steps.commit(together);
  return result.ok ? null : unlessTaken(result);
}

/** Like `endTask`; throws when the commit was refused, so that the task is tried again later. */
export async function endTaskOrThrow<W>(steps: Steps<W>, task: ClaimedTask, end: TaskEnd<W>): Promise<void> {
  throwRefusal(await endTask(steps, task, end));
}

/** The part of a commit that ends the task, and is refused when another holder has it by now. */
export function consumedBy({ id, token }: ClaimedTask): { readonly task: string; readonly token: number } {
  return { task: id, token };
}

/** When another holder has the task now, its outcome counts and nothing is left to do here. */
export function unlessTaken(result: Refusal): Refusal | null {
  return result.conflict === "token" ? null : result;
}

export function throwRefusal(refused: Refusal | null): void {
  if (refused !== null) throw new Error(`the commit was refused: ${JSON.stringify(refused)}`);
}
