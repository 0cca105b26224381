/** Tasks that fail or were set aside, as a person sees and commands them. */
import { commitOne } from "../../../storage/decided.ts";
import type { EngineStorage, PendingTask } from "../../../storage/storage.ts";
import { NOT_KEPT } from "../../workflow/values.ts";
import { checkLimit } from "./check-limit.ts";

/** A task that cannot be done. */
export interface TroubledTask extends PendingTask {
  /** A dead letter: when it was set aside. A failing task: when it was due as it first failed. */
  readonly since: number;
}

/** Whether a task can be retried now. */
export function isTroubled({ deadAt, failures, isHeld }: PendingTask): boolean {
  return !isHeld && (deadAt !== null || failures > 0);
}

/** Tasks set aside as dead letters, newest first. */
export async function deadLetters(
  storage: Pick<EngineStorage, "tasks">,
  limit: number,
): Promise<readonly TroubledTask[]> {
  return (await storage.tasks({ order: "dead", limit })).map(troubled);
}

/** Tasks with `least` or more failures, longest failing first. */
export async function failingTasks(
  storage: Pick<EngineStorage, "tasks">,
  least: number,
  limit: number,
): Promise<readonly TroubledTask[]> {
  return (await storage.tasks({ order: "failing", least, limit })).map(troubled);
}

function troubled(task: PendingTask): TroubledTask {
  return { ...task, since: task.deadAt ?? task.failingSince ?? task.dueAt };
}

/** Commands about tasks that cannot be done. They need neither `run()` nor the charts. */
export interface TaskCommands {
  /**
   * Tasks set aside because each process that took them ended without giving them back, or because they failed for good,
   * newest first; up to `limit`, 100 unless said otherwise. No process tries them again until `retry`.
   *
   * ```ts
   * for (const { id, instance, name, lastError } of await engine.deadLetters()) {
   *   console.log(instance, name, lastError);
   *   await engine.retry(id);
   * }
   * ```
   */
  deadLetters(limit?: number): Promise<readonly TroubledTask[]>;
  /** Tasks that fail and are tried again and again, those first that fail for longest; up to `limit`, 100 unless said otherwise. */
  failingTasks(limit?: number): Promise<readonly TroubledTask[]>;
  /**
   * Makes a dead letter, or a failing task that waits for its next try, due now; a dead letter's crashes and failures
   * are forgotten. False, and nothing has changed, when the task is done, is in hand, or has not failed.
   */
  retry(task: string): Promise<boolean>;
  /**
   * Removes a dead letter, or what fails and waits for its next try: a message, which holds up the messages behind it; or an
   * effect, without which its ended instance could be removed. The task is never done. An instance that waits for the task's
   * end waits until another event comes, or until it is stopped. False, and nothing has changed, when it is none of these.
   */
  drop(task: string): Promise<boolean>;
}

const DEFAULT_LIMIT = 100;

/** A program without types may hand over the whole task. @throws TypeError */
function checkTask(act: string, task: unknown): void {
  if (typeof task === "string" && task !== "" && !NOT_KEPT.test(task)) return;
  throw new TypeError(`${act}: expected the id of a task, as failingTasks() and deadLetters() list it`);
}

/** The commands over a storage; `now` in milliseconds since the Unix epoch. */
export function taskCommands(
  storage: Pick<EngineStorage, "commit" | "tasks">,
  now: () => number,
): TaskCommands {
  return {
    async deadLetters(limit = DEFAULT_LIMIT) {
      checkLimit("deadLetters", limit);
      return deadLetters(storage, limit);
    },
    async failingTasks(limit = DEFAULT_LIMIT) {
      checkLimit("failingTasks", limit);
      return failingTasks(storage, 1, limit);
    },
    async retry(task) {
      checkTask("retry", task);
      return (await commitOne(storage, { retries: [{ task, dueAt: now(), delayMs: 0 }] })).ok;
    },
    async drop(task) {
      checkTask("drop", task);
      return (await commitOne(storage, { drops: [task] })).ok;
    },
  };
}
