/** The rows of tasks over a plain Map. */
import type { QueueName, TaskKind } from "paystate/engine";
import {
  copyRow,
  engineTables,
  type StoredTask,
  type TaskLine,
  type TaskRow,
  type TaskRows,
} from "paystate/storage";
import { by, type Database } from "./database.ts";

const earliestFirst = by<TaskRow>(
  ({ visibleAt }) => visibleAt,
  ({ seq }) => seq,
);

export class Tasks implements TaskRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  get(id: string): TaskRow | undefined {
    return this.#database.tasks.get(id);
  }

  insert(task: StoredTask): void {
    if (this.#database.tasks.has(task.id)) throw new TypeError(`task ${task.id} is there already`);
    this.put({ ...task, seq: (this.#database.armed += 1) });
  }

  put(task: TaskRow): void {
    this.#database.tasks.set(task.id, { ...copyRow(engineTables.tasks, task), seq: task.seq });
  }

  remove(id: string): void {
    this.#database.tasks.delete(id);
  }

  consume(id: string, token: number): TaskRow | undefined {
    const task = this.#database.tasks.get(id);
    if (task === undefined || token < 1 || task.token !== token) return undefined;
    this.remove(id);
    return task;
  }

  disarm(instance: string, name?: string): readonly TaskRow[] {
    const gone = this.#where((task) => task.instance === instance)
      .filter(({ kind }) => kind === "timer" || kind === "invocation")
      .filter((task) => name === undefined || task.name === name);
    for (const { id } of gone) this.remove(id);
    return gone;
  }

  adopt(instance: string, workflow: string): void {
    for (const task of this.#where((each) => each.instance === instance)) this.put({ ...task, workflow });
  }

  ofInstance(instance: string, limit: number, except?: TaskKind): readonly TaskRow[] {
    return this.#where((task) => task.instance === instance && task.kind !== except)
      .toSorted(
        by(
          ({ name }) => name,
          ({ seq }) => seq,
        ),
      )
      .slice(0, limit);
  }

  due(wanted: { line: TaskLine; workflow: string; until: number; limit: number }): readonly TaskRow[] {
    return this.#where(({ workflow }) => workflow === wanted.workflow)
      .filter((task) => task.visibleAt <= wanted.until && lineOf(task) === wanted.line)
      .toSorted(earliestFirst)
      .slice(0, wanted.limit);
  }

  workflows(queue: QueueName): Iterable<string> {
    const lines = queue === "limited" ? ["admitted", "parked", "paused"] : [queue];
    return new Set(this.#where((task) => lines.includes(lineOf(task) ?? "")).map(({ workflow }) => workflow));
  }

  suspects(): readonly TaskRow[] {
    return this.#where(({ crashedAt, deadAt }) => crashedAt !== null && deadAt === null);
  }

  admitted(firstKey: string, lastKey?: string): number {
    return this.#under(firstKey).filter(
      (task) => task.admission === "admitted" && (lastKey === undefined || task.lastKey === lastKey),
    ).length;
  }

  hasAny(firstKey: string): boolean {
    return this.#under(firstKey).length > 0;
  }

  /** In one order, whichever key a task has left: there are few of them here. */
  heads(firstKey: string): Iterable<TaskRow> {
    const heads = new Map<string | null, TaskRow>();
    for (const task of this.#under(firstKey)) {
      if (task.admission === "parked" && !heads.has(task.lastKey)) heads.set(task.lastKey, task);
    }
    return heads.values();
  }

  parked(key: string, limit: number): readonly TaskRow[] {
    return this.#under(key)
      .filter(({ admission, lastKey }) => admission === "parked" && lastKey === key)
      .slice(0, limit);
  }

  dead(limit: number): readonly TaskRow[] {
    return this.#where(({ deadAt }) => deadAt !== null)
      .toSorted(
        by(
          ({ deadAt }) => -Number(deadAt),
          ({ seq }) => -seq,
        ),
      )
      .slice(0, limit);
  }

  failing(least: number, limit: number): readonly TaskRow[] {
    return this.#where(({ deadAt, failures }) => deadAt === null && failures >= least)
      .toSorted(by(({ failingSince }) => failingSince))
      .slice(0, limit);
  }

  #under(key: string): TaskRow[] {
    return this.#where(({ firstKey, deadAt }) => firstKey === key && deadAt === null);
  }

  /** As they were armed. */
  #where(isWanted: (task: TaskRow) => boolean): TaskRow[] {
    return [...this.#database.tasks.values()].filter(isWanted);
  }
}

/** Null for a dead letter, and for a message that waits for room. */
function lineOf({ kind, firstKey, admission, deadAt }: TaskRow): TaskLine | null {
  if (deadAt !== null) return null;
  if (kind === "timer" || kind === "message") return admission === "parked" ? null : "steps";
  return firstKey === null ? "free" : admission;
}
