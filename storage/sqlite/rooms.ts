/** Which keys of limits have room, and which parked tasks are admitted: read from the rows within a transaction. */
import type { StoredTask, TaskRow } from "../engine-tables.ts";
import { MAX_HEADS } from "../limits.ts";
import type { TaskRows } from "./task-rows.ts";

type Rooms = Pick<TaskRows, "admitted" | "overrides">;

/** The most tasks of the first key of this task, and of the second one. An override comes before its own; a message has none. */
function mostOf(
  { kind, firstKey, firstRoom, lastKey, lastRoom }: StoredTask,
  tasks: Pick<TaskRows, "overrides">,
): readonly [first: number, last: number] {
  const isOverridden = kind !== "message" && firstKey !== null && lastKey !== null;
  const overrides = isOverridden ? tasks.overrides(firstKey, lastKey) : [];
  const most = (key: string | null, own: number | null): number =>
    overrides.find((each) => each.key === key)?.atMost ?? Number(own);
  return [most(firstKey, firstRoom), most(lastKey, lastRoom)];
}

export const isShut = (task: StoredTask, tasks: Pick<TaskRows, "overrides">): boolean =>
  task.firstKey !== null && mostOf(task, tasks).includes(0);

/** The key that has no room for a task; null where each has, or the task has its room already. */
export function fullKey(task: StoredTask, tasks: Rooms): string | null {
  const { firstKey, lastKey, admission } = task;
  if (firstKey === null || lastKey === null || admission === "admitted") return null;
  const [first, last] = mostOf(task, tasks);
  if (tasks.admitted(firstKey) >= first) return firstKey;
  return lastKey === firstKey || tasks.admitted(firstKey, lastKey) < last ? null : lastKey;
}

export const hasRoom = (task: StoredTask, tasks: Rooms): boolean => fullKey(task, tasks) === null;

const soonestFirst = (a: TaskRow, b: TaskRow): number => b.priority - a.priority || a.seq - b.seq;

/**
 * The parked tasks under a first key that are admitted, soonest first: admit each before the next is asked for. One admission
 * examines 64 last keys with room, starting after the last one examined, so that each has its turn when an account has
 * thousands.
 */
export function* admissions(tasks: TaskRows, firstKey: string, after: string): Generator<TaskRow> {
  let counted: number | undefined;
  // Thousands may be admitted at once, and those under the key are counted for the first alone.
  const under = (): number => (counted ??= tasks.admitted(firstKey));
  for (;;) {
    const next = nextAdmitted(tasks, tasks.heads(firstKey, after), under);
    if (next === undefined) return;
    yield next;
    counted = under() + 1;
  }
}

function nextAdmitted(tasks: TaskRows, heads: Iterable<TaskRow>, under: () => number): TaskRow | undefined {
  let next: TaskRow | undefined;
  let looked = 0;
  for (const head of heads) {
    const { firstKey, lastKey } = head;
    const [first, last] = mostOf(head, tasks);
    const isOut = under() >= first;
    // No more last keys are full than tasks are admitted. They are passed over, or a key with room could lie behind them.
    if (!isOut && lastKey !== firstKey && tasks.admitted(firstKey ?? "", lastKey ?? "") >= last) continue;
    if (!isOut && (next === undefined || soonestFirst(head, next) < 0)) next = head;
    looked += 1;
    if (looked === MAX_HEADS) break;
  }
  return next;
}
