/** A task as it is kept: with its lease, its token and its counts. */
import type { ArmLease, ClaimRequest, PendingTask, TaskAmendment, TaskRecord } from "./storage.ts";
import type { StoredTask } from "./engine-tables.ts";
import { admitted, limitColumns, limitsOf, paused, revived } from "./limits.ts";

/**
 * The row of a newly armed task.
 *
 * @throws TypeError when a limit is no whole number from 1 (the key would let no task in, or each adapter another number),
 * or has no key, or is that of a timer.
 *
 * @example
 * ```ts
 * import { storedTask } from "paystate/storage";
 *
 * const task = {
 *   id: "i:1:0",
 *   instance: "i",
 *   workflow: "order@1",
 *   kind: "effect",
 *   name: "ship",
 *   payload: "{}",
 *   dueAt: 5,
 *   limits: [],
 * } as const;
 * const { token, visibleAt } = storedTask(task, { holder: "h", until: 99 });
 * console.log(token, visibleAt); // 1 99
 * ```
 */
export function storedTask(task: TaskRecord, lease: ArmLease | undefined): StoredTask {
  return {
    id: task.id,
    instance: task.instance,
    workflow: task.workflow,
    kind: task.kind,
    name: task.name,
    payload: task.payload,
    dueAt: task.dueAt,
    ...limitColumns(task, lease === undefined ? "parked" : "admitted"),
    visibleAt: lease?.until ?? task.dueAt,
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

/**
 * What the port shows of it.
 *
 * @example
 * ```ts
 * import { storedTask, taskRecord } from "paystate/storage";
 *
 * const task = {
 *   id: "i:1:0",
 *   instance: "i",
 *   workflow: "order@1",
 *   kind: "effect",
 *   name: "ship",
 *   payload: "{}",
 *   dueAt: 5,
 *   limits: [],
 * } as const;
 * console.log(taskRecord(storedTask(task, undefined)).limits); // []
 * ```
 */
export function taskRecord(task: StoredTask): TaskRecord {
  const { id, instance, workflow, kind, name, payload, dueAt } = task;
  return { id, instance, workflow, kind, name, payload, dueAt, limits: limitsOf(task) };
}

/**
 * The task under its other name and payload, taken from its holder.
 *
 * @example
 * ```ts
 * import { amended, storedTask } from "paystate/storage";
 *
 * const task = {
 *   id: "i:1:0",
 *   instance: "i",
 *   workflow: "order@2",
 *   kind: "effect",
 *   name: "ship",
 *   payload: "{}",
 *   dueAt: 5,
 *   limits: [],
 * } as const;
 * const held = storedTask(task, { holder: "h", until: 99 });
 * const { name, token } = amended(held, { task: "i:1:0", name: "send", payload: "{}", dueAt: 7 });
 * console.log(name, token); // send 2
 * ```
 */
export function amended(task: StoredTask, { name, payload, dueAt }: TaskAmendment): StoredTask {
  return paused({ ...task, name, payload, dueAt, visibleAt: dueAt, holder: null, token: task.token + 1 });
}

/**
 * A task of an instance as the port shows it.
 *
 * @example
 * ```ts
 * import { pendingTask, storedTask } from "paystate/storage";
 *
 * const task = {
 *   id: "i:1:0",
 *   instance: "i",
 *   workflow: "order@1",
 *   kind: "effect",
 *   name: "ship",
 *   payload: "{}",
 *   dueAt: 5,
 *   limits: [],
 * } as const;
 * console.log(pendingTask(storedTask(task, { holder: "h", until: 99 })).isHeld); // true
 * ```
 */
export function pendingTask(task: StoredTask): PendingTask {
  const { crashes, crashedAt, failures, lastError, visibleAt, holder, failingSince, deadAt } = task;
  const isSuspect = crashedAt !== null && deadAt === null;
  const isHeld = holder !== null;
  const isParked = task.admission === "parked";
  return {
    ...taskRecord(task),
    crashes,
    isSuspect,
    failures,
    lastError,
    visibleAt,
    isHeld,
    isParked,
    failingSince,
    deadAt,
  };
}

/**
 * What a claim makes of a task that it hands out.
 *
 * @example
 * ```ts
 * import { claimed, storedTask } from "paystate/storage";
 *
 * const task = {
 *   id: "i:1:0",
 *   instance: "i",
 *   workflow: "order@1",
 *   kind: "effect",
 *   name: "ship",
 *   payload: "{}",
 *   dueAt: 5,
 *   limits: [],
 * } as const;
 * const { token, visibleAt } = claimed(storedTask(task, undefined), { holder: "h", now: 10, leaseMs: 100 });
 * console.log(token, visibleAt); // 1 110
 * ```
 */
export function claimed<T extends StoredTask>(
  task: T,
  { holder, now, leaseMs }: Pick<ClaimRequest, "holder" | "now" | "leaseMs">,
): T {
  return admitted({ ...task, holder, visibleAt: now + leaseMs, token: task.token + 1 });
}

/**
 * What giving it back makes of a task, with the error it failed with, if it did; null when it was set aside meanwhile.
 * That the token is the latest is for the caller to check.
 *
 * @example
 * ```ts
 * import { released, storedTask } from "paystate/storage";
 *
 * const task = {
 *   id: "i:1:0",
 *   instance: "i",
 *   workflow: "order@1",
 *   kind: "effect",
 *   name: "ship",
 *   payload: "{}",
 *   dueAt: 5,
 *   limits: [],
 * } as const;
 * const given = released(storedTask(task, { holder: "h", until: 99 }), 40, "no route");
 * console.log(given?.visibleAt, given?.failures, given?.failingSince); // 40 1 5
 * ```
 */
export function released(task: StoredTask, dueAt: number, error?: string): StoredTask | null {
  if (task.deadAt !== null) return null;
  const due = paused({ ...task, dueAt, visibleAt: dueAt, holder: null });
  if (error === undefined) return due;
  const { failures, failingSince } = task;
  // It can fail without ending its process.
  return {
    ...due,
    crashedAt: null,
    failures: failures + 1,
    lastError: error,
    failingSince: failingSince ?? task.dueAt,
  };
}

/**
 * What an operator's retry makes of a task; null when it cannot be retried.
 *
 * @example
 * ```ts
 * import { retried, storedTask } from "paystate/storage";
 *
 * const task = {
 *   id: "i:1:0",
 *   instance: "i",
 *   workflow: "order@1",
 *   kind: "effect",
 *   name: "ship",
 *   payload: "{}",
 *   dueAt: 5,
 *   limits: [],
 * } as const;
 * const dead = { ...storedTask(task, undefined), crashes: 3, deadAt: 70 };
 * const again = retried(dead, 80);
 * console.log(again?.crashes, again?.visibleAt); // 0 80
 * ```
 */
export function retried(task: StoredTask, dueAt: number): StoredTask | null {
  if (task.holder !== null) return null;
  if (task.deadAt !== null) {
    const counts = { crashes: 0, crashedAt: null, failures: 0, failingSince: null };
    return revived({ ...task, dueAt, visibleAt: dueAt, ...counts, deadAt: null });
  }
  return task.failures > 0 ? paused({ ...task, dueAt, visibleAt: dueAt }) : null;
}

/** By the time they may be claimed, equal ones in the order in which they were armed. */
export function earliestFirst(
  a: { readonly visibleAt: number; readonly seq: number },
  b: { readonly visibleAt: number; readonly seq: number },
): number {
  return a.visibleAt - b.visibleAt || a.seq - b.seq;
}
