/** Applies a commit: its parts in order, and the conditions that refuse it. */
import { assertQuery } from "../compiled-queries.ts";
import type { GivenTables } from "../sql/given-tables.ts";
import type { AnyCommit, AnyInsert, AnyWrite, CommitResult } from "../storage.ts";
import { MAX_FORGOTTEN, startedInstance } from "../stored-instance.ts";
import type { Connection } from "./connection.ts";
import { InstanceRows } from "./instances.ts";
import { firstRefused, isWritten } from "./tables.ts";
import { TaskQueue } from "./task-queue.ts";

/** The dependencies of a commit: a connection within a transaction. */
export class CommitTarget {
  readonly connection: Connection;
  readonly tables: GivenTables;
  readonly instances: InstanceRows;
  readonly tasks: TaskQueue;

  constructor(connection: Connection, tables: GivenTables) {
    this.connection = connection;
    this.tables = tables;
    this.instances = new InstanceRows(connection);
    this.tasks = new TaskQueue(connection);
  }
}

/**
 * Carries out one commit within a transaction. If the commit is refused or throws, the caller takes back its changes. Before
 * the transaction ends, the caller calls `tasks.settle()`, and adds `admits` to the answers if it is true.
 */
export function applyCommit(commit: AnyCommit, to: CommitTarget): CommitResult {
  const { retries = [], drops = [], step, removes = [], starts = [], writes = [] } = commit;
  if (!to.tasks.consume(commit)) return { ok: false, conflict: "token" };
  if (!retries.every((each) => to.tasks.retry(each))) return { ok: false, conflict: "token" };
  const isActive = (instance: string): boolean => to.instances.isActive(instance);
  if (!drops.every((id) => to.tasks.drop(id, isActive))) return { ok: false, conflict: "token" };
  if (step !== undefined && !to.instances.step(step)) return { ok: false, conflict: "step" };
  if (!removes.every((each) => to.instances.remove(each))) return { ok: false, conflict: "step" };
  const exists = starts.findIndex((start) => !to.instances.start(startedInstance(start)));
  if (exists !== -1) return { ok: false, conflict: "exists", index: exists };
  const refused = refusedWrite(writes, to);
  if (refused !== -1) return { ok: false, conflict: "write", index: refused };
  const parked = follow(commit, to);
  carryOut(commit, to);
  return parked.length === 0 ? { ok: true } : { ok: true, parked };
}

/** Last, so that what is refused for the engine's own rows is told first. */
function carryOut({ queries = [] }: AnyCommit, to: CommitTarget): void {
  queries.forEach(assertQuery);
  queries.forEach((query, place) => to.connection.query(query, place));
}

function refusedWrite(writes: readonly AnyWrite[], to: CommitTarget): number {
  for (let at = 0; at < writes.length;) {
    const inserts = insertsFrom(writes, at);
    const refused =
      inserts.length > 1
        ? firstRefused(to.connection, to.tables, inserts)
        : writes
            .slice(at, at + 1)
            .findIndex((write) => !isWritten(to.connection, to.tables.of(write.table), write));
    if (refused !== -1) return at + refused;
    at += Math.max(inserts.length, 1);
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

/**
 * Changes that cannot be refused: removals first, since a step may enter its state again. Returns tasks armed without their
 * lease.
 */
function follow(commit: AnyCommit, to: CommitTarget): string[] {
  const { ends = [], disarms = [], adopts = [], amends = [], limits = [], arms = [] } = commit;
  const { forgets = [], history = [] } = commit;
  for (const instance of ends) to.tasks.disarm(instance);
  for (const { instance, timer } of disarms) to.tasks.disarm(instance, timer);
  for (const { instance, workflow } of adopts) to.tasks.adopt(instance, workflow);
  for (const amendment of amends) to.tasks.amend(amendment);
  for (const limit of limits) to.tasks.setLimit(limit);
  const parked: string[] = [];
  for (const { task, lease } of arms) {
    // A message belongs to the workflow of its target, where that is there.
    const target = task.kind === "message" ? to.instances.workflowOf(task.instance) : undefined;
    const isLeased = to.tasks.arm(target === undefined ? task : { ...task, workflow: target }, lease);
    if (lease !== undefined && !isLeased) parked.push(task.id);
  }
  for (const rows of forgets) to.instances.forget({ ...rows, most: MAX_FORGOTTEN });
  for (const row of history) to.instances.record(row);
  return parked;
}
