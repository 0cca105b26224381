/** The rows of tasks in memory. */
import { compareTexts } from "../compare-texts.ts";
import { engineTables, type StoredTask } from "../engine-tables.ts";
import type { QueueName, TaskKind } from "../storage.ts";
import { earliestFirst } from "../stored-task.ts";
import { queueOfRow } from "../task-queues.ts";
import type { TaskLine, TaskRow, TaskRows } from "../task-rows.ts";
import { type Journal, Rows } from "./rows.ts";

export class MemoryTaskRows implements TaskRows {
  readonly #tasks: Rows<TaskRow>;
  #armed = 0;

  constructor(journal: Journal) {
    const { columns, lookups = [] } = engineTables.tasks;
    this.#tasks = new Rows({ columns: { ...columns, seq: "integer" }, lookups }, journal);
  }

  get(id: string): TaskRow | undefined {
    return this.#tasks.get(id);
  }

  insert(task: StoredTask): void {
    const isNew = this.#tasks.insert({ ...task, seq: (this.#armed += 1) });
    if (!isNew) throw new Error(`task ${task.id} was armed before`);
  }

  put(task: TaskRow): void {
    this.#tasks.put(task);
  }

  remove(id: string): void {
    const task = this.#tasks.get(id);
    if (task !== undefined) this.#tasks.remove(task);
  }

  consume(id: string, token: number): TaskRow | undefined {
    const task = this.#tasks.get(id);
    if (task === undefined || token < 1 || task.token !== token) return undefined;
    this.remove(id);
    return task;
  }

  disarm(instance: string, name?: string): TaskRow[] {
    const gone = this.#tasks
      .under("instance", instance)
      .filter(({ kind }) => kind === "timer" || kind === "invocation")
      .filter((task) => name === undefined || task.name === name);
    for (const task of gone) this.#tasks.remove(task);
    return gone;
  }

  adopt(instance: string, workflow: string): void {
    for (const task of this.#tasks.under("instance", instance)) this.#tasks.put({ ...task, workflow });
  }

  ofInstance(instance: string, limit: number, except?: TaskKind): TaskRow[] {
    return this.#tasks
      .under("instance", instance)
      .filter(({ kind }) => kind !== except)
      .toSorted((a, b) => compareTexts(a.name, b.name) || a.seq - b.seq)
      .slice(0, limit);
  }

  due(wanted: { line: TaskLine; workflow: string; until: number; limit: number }): TaskRow[] {
    return this.#tasks
      .under("workflow", wanted.workflow)
      .filter((task) => task.visibleAt <= wanted.until && lineOf(task) === wanted.line)
      .toSorted(earliestFirst)
      .slice(0, wanted.limit);
  }

  workflows(queue: QueueName): Iterable<string> {
    const isIn = (task: TaskRow): boolean => lineOf(task) !== null && queueOfRow(task) === queue;
    return new Set(this.#tasks.all().flatMap((task) => (isIn(task) ? [task.workflow] : [])));
  }

  suspects(): TaskRow[] {
    return this.#tasks.all().filter(({ crashedAt, deadAt }) => crashedAt !== null && deadAt === null);
  }

  admitted(firstKey: string, lastKey?: string): number {
    const isCounted = (task: TaskRow): boolean =>
      task.admission === "admitted" && task.lastKey === (lastKey ?? task.lastKey);
    return this.#under(firstKey).filter(isCounted).length;
  }

  hasAny(firstKey: string): boolean {
    return this.#under(firstKey).length > 0;
  }

  heads(firstKey: string, after: string): TaskRow[] {
    const lastFirst = this.#parked(firstKey).toReversed();
    const heads = new Map(lastFirst.map((task): [string, TaskRow] => [task.lastKey ?? "", task]));
    const inOrder = [...heads].toSorted(([a], [b]) => compareTexts(a, b));
    const turn = Math.max(
      0,
      inOrder.findIndex(([key]) => compareTexts(key, after) > 0),
    );
    return [...inOrder.slice(turn), ...inOrder.slice(0, turn)].map(([, head]) => head);
  }

  parked(key: string, limit: number): TaskRow[] {
    return this.#parked(key)
      .filter(({ lastKey }) => lastKey === key)
      .slice(0, limit);
  }

  /** As they were armed. */
  #parked(firstKey: string): TaskRow[] {
    return this.#under(firstKey)
      .filter(({ admission }) => admission === "parked")
      .toSorted((a, b) => a.seq - b.seq);
  }

  dead(limit: number): TaskRow[] {
    return this.#tasks
      .all()
      .filter(({ deadAt }) => deadAt !== null)
      .toSorted((a, b) => Number(b.deadAt) - Number(a.deadAt) || b.seq - a.seq)
      .slice(0, limit);
  }

  failing(least: number, limit: number): TaskRow[] {
    return this.#tasks
      .all()
      .filter((task) => task.deadAt === null && task.failingSince !== null && task.failures >= least)
      .toSorted((a, b) => Number(a.failingSince) - Number(b.failingSince) || a.seq - b.seq)
      .slice(0, limit);
  }

  #under(firstKey: string): TaskRow[] {
    return this.#tasks.under("firstKey", firstKey).filter(({ deadAt }) => deadAt === null);
  }
}

/** Null for a dead letter, and for a message that waits for room. */
function lineOf(task: TaskRow): TaskLine | null {
  const queue = queueOfRow(task);
  if (task.deadAt !== null || (queue === "steps" && task.admission === "parked")) return null;
  return queue === "limited" ? task.admission : queue;
}
