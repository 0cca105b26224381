/** The tasks of a database, as far as an adapter keeps them. */
import type { StoredTask } from "./engine-tables.ts";
import type { QueueName, TaskKind } from "./storage.ts";

/** A task as it is kept, and its place in the order in which tasks were armed. */
export type TaskRow = StoredTask & { readonly seq: number };

/** What a task that is removed leaves to others. */
export type GoneTask = Pick<TaskRow, "firstKey" | "lastKey" | "admission">;

/**
 * Where claims look for a task: its queue, that of tasks with limits by their admission. A message that is parked is in none
 * of them, and no dead letter is.
 */
export type ClaimQueueName = "steps" | "free" | "admitted" | "parked" | "paused";

/**
 * The tasks of a database as `TaskQueue` reads and writes them, within a transaction of the adapter. Rows that are handed out
 * are never changed. Dead letters are in `get`, `remove`, `disarm`, `ofInstance` `page` and `dead`, and in nothing else.
 */
export interface TaskRows {
  get(id: string): TaskRow | undefined;
  /** Adds a task behind all others. @throws where its id is taken. */
  insert(task: StoredTask): void;
  /** Replaces a task, which was `before`. */
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
  /** Tasks of an instance by name, those of one name as they were armed; none of the kind `except`. */
  ofInstance(instance: string, limit: number, except?: TaskKind): readonly TaskRow[];
  /** Tasks of a line whose `visibleAt` is `until` or earlier, held or not: earliest first, of one time as they were armed. */
  due(wanted: {
    readonly line: ClaimQueueName;
    readonly workflow: string;
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
  /** The first keys of tasks behind this one, in the order of `compareTexts`. */
  firstKeys(after: string): Iterable<string>;
  /**
   * Under a first key, the first parked task of each last key, by the keys in the order of `compareTexts`: keys behind
   * `after` first, then all other keys. None is admitted while this is read.
   */
  heads(firstKey: string, after: string): Iterable<TaskRow>;
  /** Tasks that are parked in a key which is their first and their last one, as they were armed. */
  parked(key: string, limit: number): readonly TaskRow[];
  /** Dead letters, newest first; those of one moment the last armed first. */
  dead(limit: number): readonly TaskRow[];
  /** Those that have failed so often, those first that fail for longest, then as armed. */
  failing(least: number, limit: number): readonly TaskRow[];
}
