/**
 * A task as stored, with lease, token and counts. A row is written out field by field, or is a spread of a whole row with
 * fields of that row behind it: each field that a spread object does not have yet takes V8 microseconds.
 */
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
import type { StoredTask, TaskRow } from "./engine-tables.ts";
import { admitted, limitColumns, limitsOf, paused, revived } from "./limits.ts";
import { isSuspect, UNSUSPECTED } from "./suspects.ts";

/** The row of a newly armed task. @throws TypeError when a limit is wrong: see `limitColumns`. */
export function storedTask(task: TaskRecord, lease: ArmLease | undefined): StoredTask {
  const { id, instance, workflow, kind, name, payload, dueAt, delayMs = null } = task;
  const limited = limitColumns(task, lease === undefined ? "parked" : "admitted");
  return {
    id,
    instance,
    workflow,
    kind,
    name,
    payload,
    dueAt,
    firstKey: limited.firstKey,
    firstRoom: limited.firstRoom,
    lastKey: limited.lastKey,
    lastRoom: limited.lastRoom,
    admission: limited.admission,
    priority: limited.priority,
    rateKey: null,
    visibleAt: lease?.until ?? dueAt,
    delayMs: lease?.leaseMs ?? delayMs,
    holder: lease?.holder ?? null,
    token: lease === undefined ? 0 : 1,
    crashes: 0,
    crashedAt: null,
    counted: 0,
    aloneSince: null,
    missed: null,
    failures: 0,
    lastError: null,
    failingSince: null,
    deadAt: null,
  };
}

export function claimedTask(task: StoredTask): ClaimedTask {
  const { id, instance, workflow, kind, name, payload, dueAt, priority } = task;
  const { token, crashes, failures } = task;
  const limits = limitsOf(task);
  const claim = { id, instance, workflow, kind, name, payload, dueAt, limits, token, crashes, failures };
  return priority === 0 ? claim : { ...claim, priority };
}

/** The task under its new name and payload, taken from its holder. */
export function amended<T extends StoredTask>(task: T, { name, payload, ...due }: TaskMigration): T {
  const token = task.token + 1;
  return paused({ ...dueAnew(task, due), name, payload, holder: null, token, rateKey: null });
}

const dueAnew = <T extends StoredTask>(task: T, { dueAt, delayMs }: DueTime): T => ({
  ...task,
  dueAt,
  visibleAt: dueAt,
  delayMs: delayMs ?? null,
});

/** A task of an instance as the port shows it, with the place that it waits for, where that was asked. */
export function pendingTask(task: StoredTask, place: LimitWait | null = null): PendingTask {
  const { id, instance, workflow, kind, name, payload, dueAt, priority, rateKey: key } = task;
  const { crashes, failures, lastError, visibleAt, holder, failingSince, deadAt } = task;
  const shown = {
    id,
    instance,
    workflow,
    kind,
    name,
    payload,
    dueAt,
    limits: limitsOf(task),
    crashes,
    failures,
    lastError,
    visibleAt,
    failingSince,
    deadAt,
    isSuspect: isSuspect(task),
    isHeld: holder !== null,
    isParked: task.admission === "parked",
  };
  const waitsFor = key === null ? place : { key, until: visibleAt };
  const ranked = priority === 0 ? shown : { ...shown, priority };
  return waitsFor === null ? ranked : { ...ranked, waitsFor };
}

export function claimed<T extends StoredTask>(
  task: T,
  { holder, now, leaseMs }: Pick<ClaimRequest, "holder" | "now" | "leaseMs">,
): T {
  const visibleAt = now + leaseMs;
  const token = task.token + 1;
  // However long a suspect has waited for its turn, its next death is one within an hour.
  const crashedAt = isSuspect(task) ? now : task.crashedAt;
  return admitted({
    ...task,
    holder,
    visibleAt,
    delayMs: leaseMs,
    rateKey: null,
    token,
    crashedAt,
    missed: null,
  });
}

type Release = Omit<Parameters<EngineStorage["release"]>[0], "id" | "token">;

/** A task given back with the latest token; null when it was set aside meanwhile. A suspect keeps no room. */
export function released<T extends StoredTask>(
  task: T,
  { error, isFinal, keepsRoom, rateKey, ...due }: Release,
): T | null {
  if (task.deadAt !== null) return null;
  const back = { ...dueAnew(task, due), holder: null, missed: null, rateKey: rateKey ?? null };
  const given = keepsRoom === true && !isSuspect(task) ? back : paused(back);
  if (error === undefined) return given;
  const { crashes, failures, failingSince } = task;
  // It can fail without ending its process.
  return {
    ...given,
    crashes: isFinal === true ? 0 : crashes,
    crashedAt: null,
    counted: 0,
    aloneSince: null,
    failures: failures + 1,
    lastError: error,
    failingSince: failingSince ?? task.dueAt,
    deadAt: isFinal === true ? given.visibleAt : null,
  };
}

/** The task after an operator's retry; null when the task cannot be retried. */
export function retried<T extends StoredTask>(task: T, due: DueTime): T | null {
  if (task.holder !== null) return null;
  if (task.deadAt !== null) {
    const anew = { ...dueAnew(task, due), ...UNSUSPECTED };
    return revived({ ...anew, failures: 0, failingSince: null, deadAt: null });
  }
  return task.failures > 0 ? paused(rateOver(task, due)) : null;
}

/** A task that waits for a rate after that was overridden: due at another time. */
export const rateOver = <T extends StoredTask>(task: T, due: DueTime): T => ({
  ...dueAnew(task, due),
  rateKey: null,
});

/** The number of tasks that one transaction examines when all are examined. */
export const PAGE = 500;

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
