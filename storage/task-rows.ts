/** The tasks of a database, as far as an adapter keeps them. */
import type { EngineTables, StoredTask } from "./engine-tables.ts";
import type { QueueName, TaskKind } from "./storage.ts";

/** A task as it is kept, and its place in the order in which tasks were armed. */
export type TaskRow = StoredTask & { readonly seq: number };

/** The keys and admission of a removed task, whose room other tasks may take. */
export type GoneTask = Pick<TaskRow, "firstKey" | "lastKey" | "admission"> & {
  /** False, or 0, where nothing is parked under its first key. Default true: it is looked for. */
  readonly hasParked?: boolean | number;
};

/**
 * The line in which claims look for a task. Timers and messages, which have limits too, stand in `steps`; effects and invocations
 * in `free`, or with limits in the line of their admission. Parked messages and dead letters have none.
 */
export type ClaimQueueName = "steps" | "free" | "admitted" | "parked" | "paused";

/**
 * The tasks of a database as `TaskQueue` reads and writes them, synchronously, within a transaction of the adapter. Returned
 * rows are never changed. Dead letters are left out, but by `get`, `insert`, `put`, `remove`, `page`, `consume`, `disarm`,
 * `adopt`, `ofInstance` and `dead`.
 */
export interface TaskRows {
  get(id: string): TaskRow | undefined;
  /**
   * Adds a task behind all others. What is given may have more fields than `engineTables` names, and wrong values: keep its
   * `copyRow`. @throws where its id is taken or a value is wrong.
   */
  insert(task: StoredTask): void;
  /** Replaces a task, which was `before`. @throws where a value is wrong. */
  put(task: TaskRow, before: TaskRow): void;
  remove(id: string): void;
  /** Tasks by their ids in the order of `compareTexts`, behind this one. */
  page(after: string, limit: number): readonly TaskRow[];
  /** Removes the task, where it has this token and has been claimed. */
  consume(id: string, token: number): GoneTask | undefined;
  /** Removes timers and invocations of an instance, dead letters too: those of this name, or all. */
  disarm(instance: string, name?: string): readonly GoneTask[];
  /** All tasks of an instance belong to this workflow from now on. */
  adopt(instance: string, workflow: string): void;
  /** Tasks of an instance by name, with equal names as armed; none of the kind `except`. */
  ofInstance(instance: string, limit: number, except?: TaskKind): readonly TaskRow[];
  /**
   * Tasks of a line whose `visibleAt` is `until` or earlier, held or not: of each workflow the earliest, up to `limit`,
   * and at the same time as armed. They come in any order; a workflow that is named twice counts once.
   */
  due(wanted: {
    readonly line: ClaimQueueName;
    readonly workflows: readonly string[];
    readonly until: number;
    readonly limit: number;
  }): readonly TaskRow[];
  /** The workflows for which `due` finds a task, at whatever time, in a line of this queue. */
  workflows(queue: QueueName): Iterable<string>;
  /** Tasks with a `crashedAt`, in any order: all held suspects, and the waiting suspects of each of these workflows. */
  suspects(workflows: readonly string[]): readonly TaskRow[];
  /** How many tasks are admitted under a first key, or under it with this last key. */
  admitted(firstKey: string, lastKey?: string): number;
  /** Whether any task has this first key. */
  hasAny(firstKey: string): boolean;
  /** The first keys that tasks have, each once, behind this key in the order of `compareTexts`. */
  firstKeys(after: string): Iterable<string>;
  /**
   * Under a first key, the parked task of each last key that is admitted soonest, in the order of the last keys by `compareTexts`: from
   * behind the last key `after` to the end, then from the beginning. No task is admitted during the iteration.
   */
  heads(firstKey: string, after: string): Iterable<TaskRow>;
  /** Parked tasks whose first and last key are both this key, as they are admitted: by priority, the highest first, then as armed. */
  parked(key: string, limit: number): readonly TaskRow[];
  /** How many parked tasks of the same keys are admitted before this one, counted up to a limit. */
  before(task: TaskRow, limit: number): number;
  /** The overrides of these two keys, which may be one. */
  overrides(firstKey: string, lastKey: string): readonly EngineTables["paystateLimits"][];
  /** Overrides that number; null: no more. */
  setOverride(key: string, atMost: number | null): void;
  /** Admitted effects and invocations whose first or last key is this one, and that nobody has in hand. */
  unheld(key: string): readonly TaskRow[];
  /** Tasks that wait for the rate of this key. */
  rated(key: string): readonly TaskRow[];
  /** First keys under which a parked task has this last key. */
  firstKeysOf(lastKey: string): Iterable<string>;
  /** Dead letters, newest first; at the same time, the last armed first. */
  dead(limit: number): readonly TaskRow[];
  /** Tasks with at least this many failures: longest failing first, then as armed. */
  failing(least: number, limit: number): readonly TaskRow[];
}
