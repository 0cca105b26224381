/** Applies a commit: its parts in order, and the conditions that refuse it. */
import { assertQuery, type CompiledQuery } from "./compiled-queries.ts";
import type {
  AnyCommit,
  AnyInsert,
  AnyWrite,
  CommitResult,
  HistoryRecord,
  InstanceRecord,
  StepRecord,
  WatchRecord,
} from "./storage.ts";
import type { TaskQueue } from "./task-queue.ts";

/** To remove a row takes some microseconds, and others wait meanwhile. */
export const MAX_FORGOTTEN = 20_000;

/** A database within a transaction. Each act is synchronous; one that returns false was refused. */
export interface CommitTarget {
  readonly tasks: TaskQueue;
  /** The instance goes on from the stamp `after`; the version grows by `steps`, or by one. */
  step(step: StepRecord): boolean;
  /** Removes an ended instance of this life, with its history, that has no active child, no task and no watch. */
  remove(instance: Pick<InstanceRecord, "id" | "life">): boolean;
  start(instance: InstanceRecord): boolean;
  /** Writes to a table of the caller. */
  write(write: AnyWrite): boolean;
  /** Inserts into one table at once, each judged behind those before: the place of the first refused, or -1. Default: one by one. */
  insertAll?(inserts: readonly AnyInsert[]): number;
  /** The workflow of an instance; undefined where there is none. */
  workflowOf(instance: string): string | undefined;
  unwatch(watch: Pick<WatchRecord, "kind" | "key" | "instance">): void;
  /** Adds the watch, or replaces the one of this kind, key and instance. */
  watch(watch: WatchRecord): void;
  /** Removes rows of a history below the version `before`: `most` of them, the oldest. */
  forget(rows: { readonly instance: string; readonly before: number; readonly most: number }): void;
  /** @throws where the instance has this version in its history. */
  record(row: HistoryRecord): void;
  /** Carries out a statement of the host. Absent in a storage without SQL. @throws QueryFailed */
  query?(query: CompiledQuery, place: number): void;
}

/**
 * Carries out one commit within a transaction. Whoever calls takes back what it has done where it is refused or throws, and
 * calls `tasks.settle()` before the transaction ends, and adds `admits` to the answers where that is true.
 *
 * @example
 * ```ts
 * import { applyCommit, type CommitTarget, TaskQueue, type TaskRows } from "paystate/storage";
 *
 * const tasks = new TaskQueue({ consume: () => undefined } as Partial<TaskRows> as TaskRows);
 * const database = { tasks } as Partial<CommitTarget> as CommitTarget;
 * const late = { consumes: { task: "i:s1:0", token: 1 } };
 * console.log(applyCommit(late, database)); // { ok: false, conflict: 'token' }
 * ```
 */
export function applyCommit(commit: AnyCommit, to: CommitTarget): CommitResult {
  const { retries = [], drops = [], step, removes = [], starts = [], writes = [] } = commit;
  if (!to.tasks.consume(commit)) return { ok: false, conflict: "token" };
  if (!retries.every((each) => to.tasks.retry(each))) return { ok: false, conflict: "token" };
  if (!drops.every((id) => to.tasks.drop(id))) return { ok: false, conflict: "token" };
  if (step !== undefined && !to.step(step)) return { ok: false, conflict: "step" };
  if (!removes.every((each) => to.remove(each))) return { ok: false, conflict: "step" };
  const exists = starts.findIndex((start) => !to.start(startedInstance(start)));
  if (exists !== -1) return { ok: false, conflict: "exists", index: exists };
  const refused = firstRefused(writes, to);
  if (refused !== -1) return { ok: false, conflict: "write", index: refused };
  const parked = follow(commit, to);
  carryOut(commit, to);
  return parked.length === 0 ? { ok: true } : { ok: true, parked };
}

export function startedInstance(start: NonNullable<AnyCommit["starts"]>[number]): InstanceRecord {
  return { version: 1, life: start.stamp, updatedAt: start.createdAt, ...start };
}

/** Last, so that what is refused for the engine's own rows is told first. */
function carryOut({ queries = [] }: AnyCommit, to: CommitTarget): void {
  if (queries.length > 0 && to.query === undefined) throw withoutSql();
  queries.forEach(assertQuery);
  queries.forEach((query, place) => to.query?.(query, place));
}

const withoutSql = (): TypeError =>
  new TypeError(
    "queries: this storage has no SQL: take sqliteStorage or postgresStorage, or write to a table of defineTable()",
  );

function firstRefused(writes: readonly AnyWrite[], to: CommitTarget): number {
  for (let at = 0; at < writes.length;) {
    const inserts = insertsFrom(writes, at);
    const next: readonly AnyWrite[] = inserts.length > 1 ? inserts : writes.slice(at, at + 1);
    const together = inserts.length > 1 ? to.insertAll?.(inserts) : undefined;
    const refused = together ?? next.findIndex((write) => !to.write(write));
    if (refused !== -1) return at + refused;
    at += next.length;
  }
  return -1;
}

/** The inserts from this place on that go into one table, and that no room is counted for. */
function insertsFrom(writes: readonly AnyWrite[], at: number): readonly AnyInsert[] {
  const inserts: AnyInsert[] = [];
  for (let next = at; next < writes.length; next++) {
    const write = writes[next];
    if (write === undefined || !("insert" in write) || write.atMost !== undefined) break;
    if (inserts[0] !== undefined && inserts[0].table !== write.table) break;
    inserts.push(write);
  }
  return inserts;
}

/** What cannot be refused: removals first, since a step may enter its state again. Returns tasks armed without their lease. */
function follow(commit: AnyCommit, to: CommitTarget): string[] {
  const { ends = [], disarms = [], adopts = [], amends = [], limits = [], arms = [] } = commit;
  const { unwatches = [], watches = [], forgets = [], history = [] } = commit;
  for (const instance of ends) to.tasks.disarm(instance);
  for (const { instance, timer } of disarms) to.tasks.disarm(instance, timer);
  for (const { instance, workflow } of adopts) to.tasks.adopt(instance, workflow);
  for (const amendment of amends) to.tasks.amend(amendment);
  for (const limit of limits) to.tasks.setLimit(limit);
  const parked: string[] = [];
  for (const { task, lease } of arms) {
    // A message belongs to the workflow of its target, where that is there.
    const target = task.kind === "message" ? to.workflowOf(task.instance) : undefined;
    const isLeased = to.tasks.arm({ ...task, workflow: target ?? task.workflow }, lease);
    if (lease !== undefined && !isLeased) parked.push(task.id);
  }
  for (const watch of unwatches) to.unwatch(watch);
  for (const watch of watches) to.watch(watch);
  for (const rows of forgets) to.forget({ ...rows, most: MAX_FORGOTTEN });
  for (const row of history) to.record(row);
  return parked;
}
