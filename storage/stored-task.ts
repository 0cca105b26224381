/** A task as stored, with lease, token and counts. */
import type {
  ArmLease,
  ClaimedTask,
  ClaimRequest,
  DueTime,
  EngineStorage,
  LimitWait,
  PendingTask,
  TaskMigration,
  TaskRecord,
} from "./storage.ts";
import type { StoredTask } from "./engine-tables.ts";
import type { TaskRow } from "./task-rows.ts";
import { admitted, limitColumns, limitsOf, paused, revived } from "./limits.ts";

/** The row of a newly armed task. @throws TypeError when a limit is wrong: see `limitColumns`. */
export function storedTask(task: TaskRecord, lease: ArmLease | undefined): StoredTask {
  return {
    ...task,
    ...limitColumns(task, lease === undefined ? "parked" : "admitted"),
    visibleAt: lease?.until ?? task.dueAt,
    delayMs: lease?.leaseMs ?? task.delayMs ?? null,
    rateKey: null,
    holder: lease?.holder ?? null,
    token: lease === undefined ? 0 : 1,
    crashes: 0,
    crashedAt: null,
    failures: 0,
    lastError: null,
    failingSince: null,
    deadAt: null,
  };
}

function taskRecord(task: StoredTask): TaskRecord {
  const { id, instance, workflow, kind, name, payload, dueAt, priority } = task;
  const record = { id, instance, workflow, kind, name, payload, dueAt, limits: limitsOf(task) };
  return priority === 0 ? record : { ...record, priority };
}

export function claimedTask(task: StoredTask): ClaimedTask {
  const { token, crashes, failures } = task;
  return { ...taskRecord(task), token, crashes, failures };
}

/** The task under its new name and payload, taken from its holder. */
export function amended<T extends StoredTask>(task: T, { name, payload, ...due }: TaskMigration): T {
  const freed = { holder: null, token: task.token + 1, rateKey: null };
  return paused({ ...task, name, payload, ...dueColumns(due), ...freed });
}

const dueColumns = ({ dueAt, delayMs }: DueTime): Pick<StoredTask, "dueAt" | "visibleAt" | "delayMs"> => ({
  dueAt,
  visibleAt: dueAt,
  delayMs: delayMs ?? null,
});

/** A task of an instance as the port shows it, with the place that it waits for, where that was asked. */
export function pendingTask(task: StoredTask, place: LimitWait | null = null): PendingTask {
  const { rateKey: key } = task;
  const waitsFor = key === null ? place : { key, until: task.visibleAt };
  const { crashes, crashedAt, failures, lastError, visibleAt, holder, failingSince, deadAt } = task;
  return {
    ...taskRecord(task),
    crashes,
    failures,
    lastError,
    visibleAt,
    failingSince,
    deadAt,
    isSuspect: crashedAt !== null && deadAt === null,
    isHeld: holder !== null,
    isParked: task.admission === "parked",
    ...(waitsFor !== null && { waitsFor }),
  };
}

export function claimed<T extends StoredTask>(
  task: T,
  { holder, now, leaseMs }: Pick<ClaimRequest, "holder" | "now" | "leaseMs">,
): T {
  const lease = { holder, visibleAt: now + leaseMs, delayMs: leaseMs, rateKey: null };
  return admitted({ ...task, ...lease, token: task.token + 1 });
}

type Release = Omit<Parameters<EngineStorage["release"]>[0], "id" | "token">;

/** A task given back with the latest token; null when it was set aside meanwhile. A suspect keeps no room. */
export function released<T extends StoredTask>(
  task: T,
  { error, keepsRoom, rateKey, ...due }: Release,
): T | null {
  if (task.deadAt !== null) return null;
  const back = { ...task, ...dueColumns(due), holder: null, rateKey: rateKey ?? null };
  const given = keepsRoom === true && task.crashedAt === null ? back : paused(back);
  if (error === undefined) return given;
  const { failures, failingSince } = task;
  // It can fail without ending its process.
  return {
    ...given,
    crashedAt: null,
    failures: failures + 1,
    lastError: error,
    failingSince: failingSince ?? task.dueAt,
  };
}

/** The task after an operator's retry; null when the task cannot be retried. */
export function retried<T extends StoredTask>(task: T, due: DueTime): T | null {
  if (task.holder !== null) return null;
  if (task.deadAt !== null) {
    const counts = { crashes: 0, crashedAt: null, failures: 0, failingSince: null };
    return revived({ ...task, ...dueColumns(due), ...counts, deadAt: null });
  }
  return task.failures > 0 ? paused(rateOver(task, due)) : null;
}

/** A task that waits for a rate after that was overridden: due at another time. */
export const rateOver = <T extends StoredTask>(task: T, due: DueTime): T => ({
  ...task,
  ...dueColumns(due),
  rateKey: null,
});

/** A task whose delay began at a time still to come, after the clock was set back: it begins again now. Else null. */
export function moved<T extends StoredTask>(task: T, now: number): T | null {
  const { visibleAt, delayMs, crashedAt } = task;
  if (delayMs === null || visibleAt - delayMs <= now) return null;
  return {
    ...task,
    visibleAt: now + delayMs,
    crashedAt: crashedAt === null ? null : Math.min(crashedAt, now),
  };
}

export const earliestFirst = (a: TaskRow, b: TaskRow): number => a.visibleAt - b.visibleAt || a.seq - b.seq;
