/** The rows of tasks in memory. */
import {
  compareTexts,
  engineTables,
  type EngineTables,
  type StoredTask,
  type ClaimQueueName,
  type TaskRow,
  type TaskRows,
} from "../index.ts";
import type { QueueName, TaskKind } from "../storage.ts";
import { type Journal, Rows } from "./rows.ts";

type Order = (a: TaskRow, b: TaskRow) => number;
const asArmed: Order = (a, b) => a.seq - b.seq;
/** As parked tasks of one key are admitted. */
const soonestFirst: Order = (a, b) => b.priority - a.priority || asArmed(a, b);
const byName: Order = (a, b) => compareTexts(a.name, b.name) || asArmed(a, b);
const byTime: Order = (a, b) => a.visibleAt - b.visibleAt || asArmed(a, b);
const byFailing: Order = (a, b) => Number(a.failingSince) - Number(b.failingSince) || asArmed(a, b);
const byDeath: Order = (a, b) => Number(a.deadAt) - Number(b.deadAt) || asArmed(a, b);

export class MemoryTaskRows implements TaskRows {
  readonly #tasks: Rows<TaskRow>;
  readonly #overrides: Rows<EngineTables["paystateLimits"]>;
  #armed = 0;

  constructor(journal: Journal) {
    const { columns, lookups = [] } = engineTables.tasks;
    this.#tasks = new Rows({ columns: { ...columns, seq: "integer" }, lookups }, journal);
    this.#overrides = new Rows(engineTables.paystateLimits, journal);
  }

  get(id: string): TaskRow | undefined {
    return this.#tasks.get(id);
  }

  insert(task: StoredTask): void {
    const isNew = this.#tasks.insert(this.#tasks.copy({ ...task, seq: (this.#armed += 1) }));
    if (!isNew) throw new Error(`task ${task.id} was armed before`);
  }

  put(task: TaskRow): void {
    this.#tasks.put(this.#tasks.copy(task));
  }

  remove(id: string): void {
    const task = this.#tasks.get(id);
    if (task !== undefined) this.#tasks.remove(task);
  }

  page(after: string, limit: number): TaskRow[] {
    const behind = this.#tasks.all().filter(({ id }) => compareTexts(id, after) > 0);
    return behind.toSorted((a, b) => compareTexts(a.id, b.id)).slice(0, limit);
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
      .toSorted(byName)
      .slice(0, limit);
  }

  due({ line, workflows, until, limit }: Parameters<TaskRows["due"]>[0]): TaskRow[] {
    return [...new Set(workflows)].flatMap((workflow) =>
      this.#tasks
        .under("workflow", workflow)
        .filter((task) => task.visibleAt <= until && lineOf(task) === line)
        .toSorted(byTime)
        .slice(0, limit),
    );
  }

  workflows(queue: QueueName): Iterable<string> {
    const lines = queue === "limited" ? ["admitted", "parked", "paused"] : [queue];
    const waiting = this.#tasks.all().filter((task) => lines.includes(lineOf(task) ?? ""));
    return new Set(waiting.map(({ workflow }) => workflow));
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

  firstKeys(after: string): Iterable<string> {
    const living = this.#tasks.all().filter(({ deadAt }) => deadAt === null);
    const keys = new Set(living.map(({ firstKey }) => firstKey ?? ""));
    return [...keys].filter((key) => compareTexts(key, after) > 0).toSorted(compareTexts);
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

  before(task: TaskRow, limit: number): number {
    const isBefore = (other: TaskRow): boolean =>
      other.lastKey === task.lastKey && soonestFirst(other, task) < 0;
    return Math.min(limit, this.#parked(task.firstKey ?? "").filter(isBefore).length);
  }

  overrides(firstKey: string, lastKey: string): EngineTables["paystateLimits"][] {
    return [...new Set([firstKey, lastKey])].flatMap((key) => this.#overrides.get(key) ?? []);
  }

  setOverride(key: string, atMost: number | null): void {
    const before = this.#overrides.get(key);
    if (atMost !== null) this.#overrides.put({ key, atMost });
    else if (before !== undefined) this.#overrides.remove(before);
  }

  unheld(key: string): TaskRow[] {
    return this.#tasks
      .all()
      .filter(({ kind, deadAt }) => kind !== "message" && deadAt === null)
      .filter(({ holder, admission }) => holder === null && admission === "admitted")
      .filter(({ firstKey, lastKey }) => firstKey === key || lastKey === key);
  }

  rated(key: string): TaskRow[] {
    return this.#tasks.all().filter(({ rateKey }) => rateKey === key);
  }

  firstKeysOf(lastKey: string): Iterable<string> {
    const parked = this.#tasks
      .all()
      .filter((task) => task.lastKey === lastKey && task.deadAt === null && task.admission === "parked");
    return new Set(parked.map(({ firstKey }) => firstKey ?? ""));
  }

  /** Parked tasks, as they are admitted. */
  #parked(firstKey: string): TaskRow[] {
    return this.#under(firstKey)
      .filter(({ admission }) => admission === "parked")
      .toSorted(soonestFirst);
  }

  dead(limit: number): TaskRow[] {
    return this.#tasks
      .all()
      .filter(({ deadAt }) => deadAt !== null)
      .toSorted((a, b) => byDeath(b, a))
      .slice(0, limit);
  }

  failing(least: number, limit: number): TaskRow[] {
    return this.#tasks
      .all()
      .filter((task) => task.deadAt === null && task.failingSince !== null && task.failures >= least)
      .toSorted(byFailing)
      .slice(0, limit);
  }

  #under(firstKey: string): TaskRow[] {
    return this.#tasks.under("firstKey", firstKey).filter(({ deadAt }) => deadAt === null);
  }
}

/** Null for a dead letter, and for a message that waits for room. */
function lineOf({ kind, firstKey, admission, deadAt }: TaskRow): ClaimQueueName | null {
  if (deadAt !== null) return null;
  if (kind === "timer" || kind === "message") return admission === "parked" ? null : "steps";
  return firstKey === null ? "free" : admission;
}
