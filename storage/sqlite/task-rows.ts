/** The rows of tasks in SQLite. */
import { compareTexts } from "../compare-texts.ts";
import { engineTables, type StoredTask } from "../engine-tables.ts";
import { encodeRow } from "../sql/codecs.ts";
import { taskStatements, updateTask } from "../sql/task-statements.ts";
import type { QueueName, TaskKind } from "../storage.ts";
import type { GoneTask, TaskRow, TaskRows } from "../task-rows.ts";
import type { Connection } from "./connection.ts";

/** So many waiting suspects of a workflow are looked at, where those at the head of the line are of full keys or queues. */
const LOOK_AHEAD = 128;

/** What stays as it was armed is not compared. */
const CHANGING = [
  ...(["holder", "visibleAt", "token", "admission", "crashes", "crashedAt", "deadAt"] as const),
  ...(["dueAt", "failures", "lastError", "failingSince", "name", "payload"] as const),
];

export class SqliteTaskRows implements TaskRows {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get(id: string): TaskRow | undefined {
    return this.#connection.get(taskStatements.one, { id });
  }

  insert(task: StoredTask): void {
    this.#connection.run(taskStatements.insert, encodeRow(engineTables.tasks, task) as unknown as StoredTask);
  }

  put(task: TaskRow, before: TaskRow): void {
    const changed: string[] = [];
    for (const field of CHANGING) if (task[field] !== before[field]) changed.push(field);
    if (changed.length > 0) this.#connection.run(updateTask(changed), task);
  }

  remove(id: string): void {
    this.#connection.run(taskStatements.remove, { id });
  }

  consume(id: string, token: number): GoneTask | undefined {
    return this.#connection.get(taskStatements.consume, { id, token });
  }

  disarm(instance: string, name?: string): GoneTask[] {
    if (name === undefined) return this.#connection.all(taskStatements.end, { instance });
    return this.#connection.all(taskStatements.disarm, { instance, name });
  }

  adopt(instance: string, workflow: string): void {
    this.#connection.run(taskStatements.adopt, { instance, workflow });
  }

  ofInstance(instance: string, limit: number, except?: TaskKind): TaskRow[] {
    return this.#connection.all(taskStatements.ofInstance, { instance, limit, except: except ?? "" });
  }

  due({ line, workflow, until, limit }: Parameters<TaskRows["due"]>[0]): TaskRow[] {
    if (line === "steps" || line === "free") {
      return this.#connection.all(taskStatements.due[line], { workflow, until, limit });
    }
    return this.#connection.all(taskStatements.due.limited, { workflow, admission: line, until, limit });
  }

  *workflows(queue: QueueName): Generator<string> {
    const next = (after: string) => this.#connection.get(taskStatements.workflowAfter[queue], { after });
    for (let row = next(""); row !== undefined; row = next(row.workflow)) yield row.workflow;
  }

  suspects(workflows: readonly string[]): TaskRow[] {
    if (this.#connection.get(taskStatements.anyWaiting, {}) === undefined) return [];
    const waiting = [...new Set(workflows)].flatMap((workflow) =>
      this.#connection.all(taskStatements.waitingSuspects, { workflow, limit: LOOK_AHEAD }),
    );
    return [...this.#connection.all(taskStatements.heldSuspects, {}), ...waiting];
  }

  admitted(firstKey: string, lastKey?: string): number {
    const found =
      lastKey === undefined
        ? this.#connection.get(taskStatements.admittedUnder, { firstKey })
        : this.#connection.get(taskStatements.admittedIn, { firstKey, lastKey });
    return found?.count ?? 0;
  }

  hasAny(firstKey: string): boolean {
    return this.#connection.get(taskStatements.anyUnder, { firstKey }) !== undefined;
  }

  /** Those behind the key that a task has left, then those before it. */
  *heads(firstKey: string, left: string): Generator<TaskRow> {
    yield* this.#headsBetween(firstKey, left, null);
    if (left !== "") yield* this.#headsBetween(firstKey, "", left);
  }

  *#headsBetween(firstKey: string, from: string, to: string | null): Generator<TaskRow> {
    let after: string | null = from;
    while (after !== null) {
      const head: TaskRow | undefined = this.#connection.get(taskStatements.headAfter, { firstKey, after });
      after = head?.lastKey ?? null;
      if (head === undefined || (to !== null && compareTexts(head.lastKey ?? "", to) > 0)) return;
      yield head;
    }
  }

  parked(key: string, limit: number): TaskRow[] {
    return this.#connection.all(taskStatements.parked, { key, limit });
  }

  dead(limit: number): TaskRow[] {
    return this.#connection.all(taskStatements.dead, { limit });
  }

  failing(least: number, limit: number): TaskRow[] {
    return this.#connection.all(taskStatements.failing, { least, limit });
  }
}
