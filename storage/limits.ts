/**
 * Limits by key: how many tasks of one key can be claimed, or are in hand, at once. A task without room is parked, and no
 * claim sees it; whatever takes a task out of a key lets the first that waits in. Pure; every adapter decides by it.
 */
import type { StoredTask } from "./engine-tables.ts";
import type { Limit, ChangedLimit, TaskRecord } from "./storage.ts";

/** In its row a single limit is both first and last. @throws TypeError when a limit is wrong, or the task is a timer. */
export function limitColumns(
  { id, kind, limits, priority = 0 }: Pick<TaskRecord, "id" | "kind" | "limits" | "priority">,
  admission: "parked" | "admitted",
): Pick<StoredTask, "firstKey" | "firstRoom" | "lastKey" | "lastRoom" | "admission" | "priority"> {
  const [first, last = first] = limits;
  if (limits.length > 2) throw new TypeError(`task ${id} has ${limits.length} limits, and two are the most`);
  for (const { key, atMost } of limits) {
    if (kind === "timer") throw new TypeError(`task ${id} is a timer, which has no limits`);
    if (key === "") throw new TypeError(`task ${id} has a limit without a key`);
    if (!Number.isSafeInteger(atMost) || atMost < 1) {
      throw new TypeError(`limit ${key} is at most ${atMost}, which is no whole number from 1`);
    }
  }
  if (limits.length > 1 && last?.key === first?.key) {
    throw new TypeError(`task ${id} has limit ${first?.key} twice`);
  }
  if (!Number.isSafeInteger(priority)) {
    throw new TypeError(`task ${id} has the priority ${priority}, which is no whole number`);
  }
  if (priority !== 0 && (kind === "message" || first === undefined)) {
    throw new TypeError(`task ${id} has a priority, which is for effects and invocations with limits`);
  }
  return {
    firstKey: first?.key ?? null,
    firstRoom: first?.atMost ?? null,
    lastKey: last?.key ?? null,
    lastRoom: last?.atMost ?? null,
    admission: first === undefined ? null : admission,
    priority,
  };
}

export function limitsOf({ firstKey, firstRoom, lastKey, lastRoom }: StoredTask): readonly Limit[] {
  if (firstKey === null || firstRoom === null || lastKey === null || lastRoom === null) return [];
  const first = { key: firstKey, atMost: firstRoom };
  return lastKey === firstKey ? [first] : [first, { key: lastKey, atMost: lastRoom }];
}

/** The task without room: it waits for its time, for its turn among suspects, or for an operator. A message keeps its room. */
export function paused<T extends StoredTask>(task: T): T {
  return task.firstKey === null || task.kind === "message" ? task : { ...task, admission: "paused" };
}

/** A dead letter that is retried: it asks for room. A message does so at once, since no claim looks for it. */
export function revived<T extends StoredTask>(task: T): T {
  return task.firstKey === null
    ? task
    : { ...task, admission: task.kind === "message" ? "parked" : "paused" };
}

export function admitted<T extends StoredTask>(task: T): T {
  return task.firstKey === null ? task : { ...task, admission: "admitted" };
}

/** The number of last keys that one admission examines, and of keys in a search for forgotten tasks. */
export const MAX_HEADS = 64;

/** The number of tasks before a parked one that are counted. */
export const MAX_BEFORE = 1_000;

export function checkOverride({ key, atMost }: ChangedLimit): void {
  if (key === "") throw new TypeError("an override of a limit has no key");
  if (atMost !== null && (!Number.isSafeInteger(atMost) || atMost < 0)) {
    throw new TypeError(`limit ${key} is at most ${atMost}, which is no whole number from 0, nor null`);
  }
}
