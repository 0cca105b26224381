/** A task as it is kept: with its lease, its token and its counts. */
import type { ArmLease, PendingTask, TaskRecord, TroubledTask } from "./storage.ts";
import type { StoredTask } from "./engine-tables.ts";

/**
 * The row of a newly armed task.
 * @throws TypeError when its lane lets nobody in: the task would never run.
 */
export function storedTask(task: TaskRecord, lease: ArmLease | undefined): StoredTask {
  const { lane } = task;
  if (lane !== null && !(lane.cap >= 1)) throw new TypeError(`lane ${lane.key} has a cap of ${lane.cap}`);
  return {
    id: task.id,
    instance: task.instance,
    workflow: task.workflow,
    kind: task.kind,
    name: task.name,
    payload: task.payload,
    dueAt: task.dueAt,
    lane: lane?.key ?? null,
    cap: lane?.cap ?? null,
    visibleAt: lease?.until ?? task.dueAt,
    holder: lease?.holder ?? null,
    token: lease === undefined ? 0 : 1,
    crashes: 0,
    failures: 0,
    lastError: null,
    failingSince: null,
    deadAt: null,
  };
}

/** What the port shows of it. */
export function taskRecord(task: StoredTask): TaskRecord {
  const { id, instance, workflow, kind, name, payload, dueAt, lane, cap } = task;
  return {
    id,
    instance,
    workflow,
    kind,
    name,
    payload,
    dueAt,
    lane: lane === null || cap === null ? null : { key: lane, cap },
  };
}

/** A dead letter or a failing task as the port shows it. */
export function troubledTask(task: StoredTask): TroubledTask {
  const { crashes, failures, lastError, deadAt, failingSince, dueAt } = task;
  return { ...taskRecord(task), crashes, failures, lastError, since: deadAt ?? failingSince ?? dueAt };
}

/** A task of an instance as the port shows it. */
export function pendingTask(task: StoredTask): PendingTask {
  const { crashes, failures, lastError, visibleAt, holder, deadAt } = task;
  return { ...taskRecord(task), crashes, failures, lastError, visibleAt, isHeld: holder !== null, deadAt };
}

/** What an operator's retry changes in a task; null when it cannot be retried. */
export function retried(task: StoredTask, dueAt: number): StoredTask | null {
  if (task.holder !== null) return null;
  if (task.deadAt !== null) {
    return { ...task, dueAt, visibleAt: dueAt, crashes: 0, failures: 0, failingSince: null, deadAt: null };
  }
  return task.failures > 0 ? { ...task, dueAt, visibleAt: dueAt } : null;
}

/** How many holders have vanished, once this task is claimed again: one more when nobody gave it back. */
export const crashesAtClaim = ({ crashes, holder }: StoredTask): number =>
  crashes + (holder === null ? 0 : 1);

/** By the time they may be claimed, equal ones in the order in which they were armed. */
export function earliestFirst(
  a: { readonly visibleAt: number; readonly seq: number },
  b: { readonly visibleAt: number; readonly seq: number },
): number {
  return a.visibleAt - b.visibleAt || a.seq - b.seq;
}
