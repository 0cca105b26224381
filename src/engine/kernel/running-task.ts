/** The task that calls, once an inspector has asked for it: following tasks makes every promise slower on Node 20. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { TaskKind } from "../../../storage/storage.ts";

export interface RunningTask {
  readonly id: string;
  readonly instance: string;
  readonly kind: TaskKind;
  readonly name: string;
}

let running: AsyncLocalStorage<RunningTask> | null = null;

/** From now on `runningTask` answers in this process, in tasks that begin later. */
export function followTasks(): void {
  running ??= new AsyncLocalStorage();
}

export function withinTask<T>(task: RunningTask, act: () => T): T {
  return running === null ? act() : running.run(task, act);
}

/** The task that makes this call; null outside tasks, and when tasks are not followed. */
export function runningTask(): RunningTask | null {
  return running?.getStore() ?? null;
}
