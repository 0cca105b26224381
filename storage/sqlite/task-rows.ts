/** The rows of tasks, as the queue of tasks reads and writes them within a transaction. */
import { compareTexts } from "../compare-texts.ts";
import { engineTables, type EngineTables, type StoredTask, type TaskRow } from "../engine-tables.ts";
import { checkedRow } from "../sql/codecs.ts";
import { statement } from "../sql/statement.ts";
import {
  CRASHED,
  type GoneTask,
  IN_QUEUE,
  QUEUE_OF_TASK,
  taskStatements,
  updateTask,
} from "../sql/task-statements.ts";
import type { QueueName, TaskKind } from "../storage.ts";
import type { Connection } from "./connection.ts";

/**
 * The line in which claims look for a task. Timers and messages, which have limits too, stand in `steps`; effects and invocations
 * in `free`, or with limits in the line of their admission. Parked messages and dead letters have none.
 */
export type ClaimQueueName = "steps" | "free" | "admitted" | "parked" | "paused";

/** The number of waiting suspects of a workflow that are examined, when the first suspects of the line have full keys. */
const LOOK_AHEAD = 128;

/** Columns that may change after arming; other columns are not compared. */
const CHANGING = [
  ...(["holder", "visibleAt", "delayMs", "token", "admission", "crashes", "crashedAt", "deadAt"] as const),
  ...(["counted", "aloneSince", "missed"] as const),
  ...(["rateKey", "dueAt", "failures", "lastError", "failingSince", "name", "payload"] as const),
];

/** Tasks of a queue, of each workflow the earliest. */
interface Due {
  /** JSON text of a list. */
  workflows: string;
  until: number;
  limit: number;
}

/** Tasks of a line whose `visibleAt` is `until` or earlier, held or not: of each workflow so many, the earliest. */
interface WantedTasks {
  readonly line: ClaimQueueName;
  readonly workflows: readonly string[];
  readonly until: number;
  readonly limit: number;
}

/** One seek for each workflow. */
const inLine = (queue: QueueName, more = ""): string =>
  `select t.* from json_each({workflows}) cross join "paystateTasks" t on t.seq in (
    select seq from "paystateTasks" where ${IN_QUEUE[queue]} and workflow = json_each.value${more} and "visibleAt" <= {until}
    order by "visibleAt", seq limit {limit})`;

/** Statements of claims. */
export const dueStatements = {
  steps: statement<Due, TaskRow>(inLine("steps")),
  free: statement<Due, TaskRow>(inLine("free")),
  limited: statement<Due & { admission: string }, TaskRow>(inLine("limited", " and admission = {admission}")),
  /** In the order of the line, those whose queues, JSON text of a list, are asked for. */
  suspects: statement<{ workflow: string; queues: string; limit: number }, TaskRow>(
    `${CRASHED} and workflow = {workflow} and holder is null and crashes > 1
      and ${QUEUE_OF_TASK} in (select value from json_each({queues}))
      order by ("aloneSince" is not null), crashes, (kind in ('effect', 'invocation')), seq limit {limit}`,
  ),
};

/**
 * Rows that were read are never changed. Dead letters are left out, but by `get`, `put`, `remove`, `page`, `consume`, `disarm`,
 * `adopt`, `ofInstance` and `dead`.
 */
export class TaskRows {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get(id: string): TaskRow | undefined {
    return this.#connection.get(taskStatements.one, { id });
  }

  /** Behind all others. */
  insert(task: StoredTask): void {
    this.#connection.run(taskStatements.insert, checkedRow(engineTables.paystateTasks, task));
  }

  /** Writes what has changed since the task was `before`. */
  put(task: TaskRow, before: TaskRow): void {
    const changed: string[] = [];
    for (const field of CHANGING) if (task[field] !== before[field]) changed.push(field);
    if (changed.length > 0) this.#connection.run(updateTask(changed), task);
  }

  remove(id: string): void {
    this.#connection.run(taskStatements.remove, { id });
  }

  page(after: string, limit: number): TaskRow[] {
    return this.#connection.all(taskStatements.page, { after, limit });
  }

  /** Removes the task, where it has this token and has been claimed. */
  consume(id: string, token: number): GoneTask | undefined {
    return this.#connection.get(taskStatements.consume, { id, token });
  }

  /** Removes timers and invocations of an instance: those of this name, or all. */
  disarm(instance: string, name?: string): GoneTask[] {
    return name === undefined
      ? this.#connection.all(taskStatements.end, { instance })
      : this.#connection.all(taskStatements.disarm, { instance, name });
  }

  adopt(instance: string, workflow: string): void {
    this.#connection.run(taskStatements.adopt, { instance, workflow });
  }

  ofInstance(instance: string, limit: number, except?: TaskKind): TaskRow[] {
    return this.#connection.all(taskStatements.ofInstance, { instance, limit, except: except ?? "" });
  }

  due({ line, workflows, until, limit }: WantedTasks): TaskRow[] {
    if (workflows.length === 0) return [];
    const wanted = { workflows: JSON.stringify([...new Set(workflows)]), until, limit };
    return line === "steps" || line === "free"
      ? this.#connection.all(dueStatements[line], wanted)
      : this.#connection.all(dueStatements.limited, { ...wanted, admission: line });
  }

  /** The workflows with a task in a line of this queue, at whatever time. */
  *workflows(queue: QueueName): Generator<string> {
    const next = (after: string) => this.#connection.get(taskStatements.workflowAfter[queue], { after });
    for (let row = next(""); row !== undefined; row = next(row.workflow)) yield row.workflow;
  }

  /** Tasks with a `crashedAt`, in any order: held tasks, and the waiting suspects of these queues and workflows. */
  crashed(workflows: readonly string[], queues: readonly QueueName[]): TaskRow[] {
    const connection = this.#connection;
    if (connection.get(taskStatements.anyCrashed, {}) === undefined) return [];
    const asked = JSON.stringify(queues);
    const waiting = [...new Set(workflows)].flatMap((workflow) =>
      connection.all(dueStatements.suspects, { workflow, queues: asked, limit: LOOK_AHEAD }),
    );
    return [...connection.all(taskStatements.heldCrashed, {}), ...waiting];
  }

  dead(limit: number): TaskRow[] {
    return this.#connection.all(taskStatements.dead, { limit });
  }

  failing(least: number, limit: number): TaskRow[] {
    return this.#connection.all(taskStatements.failing, { least, limit });
  }

  /** How many tasks are admitted under a first key, or under it with this last key. */
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

  *firstKeys(after: string): Generator<string> {
    const next = (key: string) => this.#connection.get(taskStatements.firstKeyAfter, { after: key });
    for (let row = next(after); row !== undefined; row = next(row.firstKey)) yield row.firstKey;
  }

  /**
   * For each last key under a first key, the parked task that is admitted soonest: from behind the last key `left` to the
   * end, then from the beginning. No task is admitted during the iteration.
   */
  heads(firstKey: string, left: string): Generator<TaskRow> {
    return heads(this.#connection, firstKey, left);
  }

  /** Parked tasks whose first and last key are both this key, as they are admitted. */
  parked(key: string, limit: number): TaskRow[] {
    return this.#connection.all(taskStatements.parked, { key, limit });
  }

  /** How many parked tasks of the same keys are admitted before this one, counted up to a limit. */
  before({ firstKey, lastKey, priority, seq }: TaskRow, limit: number): number {
    const found = this.#connection.get(taskStatements.before, { firstKey, lastKey, priority, seq, limit });
    return Math.min(limit, found?.count ?? 0);
  }

  overrides(firstKey: string, lastKey: string): EngineTables["paystateLimits"][] {
    return this.#connection.all(taskStatements.overrides, { firstKey, lastKey });
  }

  setOverride(key: string, atMost: number | null): void {
    if (atMost === null) this.#connection.run(taskStatements.dropOverride, { key });
    else this.#connection.run(taskStatements.setOverride, { key, atMost });
  }

  /** Admitted effects and invocations whose first or last key is this one, and that nobody has in hand. */
  unheld(key: string): TaskRow[] {
    return this.#connection.all(taskStatements.unheld, { key });
  }

  /** Tasks that wait for the rate of this key. */
  rated(key: string): TaskRow[] {
    return this.#connection.all(taskStatements.rated, { key });
  }

  /** First keys under which a parked task has this last key. */
  firstKeysOf(key: string): string[] {
    return this.#connection.all(taskStatements.firstKeysOf, { key }).map(({ firstKey }) => firstKey);
  }
}

/** Heads behind the key that a task has left, then heads before that key. */
function* heads(connection: Connection, firstKey: string, left: string): Generator<TaskRow> {
  const behind = (after: string | null): TaskRow | undefined =>
    connection.get(taskStatements.headAfter, { firstKey, after: after ?? "" });
  const first = behind("");
  // Mostly nothing is parked, which one seek tells.
  if (first === undefined) return;
  const isBefore = ({ lastKey }: TaskRow): boolean => compareTexts(lastKey ?? "", left) <= 0;
  let head: TaskRow | undefined = isBefore(first) ? behind(left) : first;
  for (; head !== undefined; head = behind(head.lastKey)) yield head;
  head = first;
  while (head !== undefined && isBefore(head)) {
    yield head;
    if (head.lastKey === left) return;
    head = behind(head.lastKey);
  }
}
