/**
 * Limits by key: how many tasks of one key can be claimed, or are in hand, at once. A task without room is parked, and no
 * claim sees it; whatever takes a task out of a key lets the first that waits in. Pure; every adapter decides by it.
 */
import type { StoredTask } from "./engine-tables.ts";
import type { Limit, TaskRecord } from "./storage.ts";
import type { TaskRow, TaskRows } from "./task-rows.ts";

/** The columns that say where a task stands in its limits. */
type LimitColumns = Pick<StoredTask, "firstKey" | "firstRoom" | "lastKey" | "lastRoom" | "admission">;

/**
 * The limits of a task in the columns of its row. A single limit is both first and last.
 *
 * @throws TypeError when a limit is wrong, or the task is a timer.
 */
export function limitColumns(
  { id, kind, limits }: Pick<TaskRecord, "id" | "kind" | "limits">,
  admission: "parked" | "admitted",
): LimitColumns {
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
  return {
    firstKey: first?.key ?? null,
    firstRoom: first?.atMost ?? null,
    lastKey: last?.key ?? null,
    lastRoom: last?.atMost ?? null,
    admission: first === undefined ? null : admission,
  };
}

/** The limits as they were armed. */
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

/** The task with room in its keys. */
export function admitted<T extends StoredTask>(task: T): T {
  return task.firstKey === null ? task : { ...task, admission: "admitted" };
}

/**
 * The number of last keys under one first key that are examined for one admission, and of keys in a search for
 * forgotten tasks.
 */
export const MAX_HEADS = 64;

/** Whether the keys of a task have room for it, or the task has its room already. */
export function hasRoom(
  { firstKey, firstRoom, lastKey, lastRoom, admission }: StoredTask,
  tasks: Pick<TaskRows, "admitted">,
): boolean {
  if (firstKey === null || lastKey === null || admission === "admitted") return true;
  if (tasks.admitted(firstKey) >= Number(firstRoom)) return false;
  return lastKey === firstKey || tasks.admitted(firstKey, lastKey) < Number(lastRoom);
}

/**
 * The parked task under a first key that is admitted next: among tasks whose keys have room, the task armed first.
 * Admit the task, and ask again until the answer is undefined. Only 64 last keys with room are examined, beginning
 * behind the last key that a task has left, so that every last key has its turn when an account has thousands.
 */
export function nextAdmitted(tasks: TaskRows, firstKey: string, after: string): TaskRow | undefined {
  let under: number | undefined;
  let next: TaskRow | undefined;
  let looked = 0;
  for (const head of tasks.heads(firstKey, after)) {
    under ??= tasks.admitted(firstKey);
    const isOut = under >= Number(head.firstRoom);
    // No more last keys are full than tasks are admitted. They are passed over, or a key with room could lie behind them.
    if (!isOut && !hasRoom(head, tasks)) continue;
    if (!isOut && (next === undefined || head.seq < next.seq)) next = head;
    looked += 1;
    if (looked === MAX_HEADS) break;
  }
  return next;
}
