/** Instances, their history and named leases in SQLite. */
import { engineTables, type StoredLease } from "../engine-tables.ts";
import { planLeases } from "../named-leases.ts";
import { checkedRow } from "../sql/codecs.ts";
import { instanceStatements, leaseStatements } from "../sql/instance-statements.ts";
import { statement } from "../sql/statement.ts";
import type { HistoryRecord, InstanceRecord, Lease, LeaseRequest, StepRecord } from "../storage.ts";
import type { Connection } from "./connection.ts";
import type { TaskQueue } from "./task-queue.ts";

/** Pages that were freed wait in the file to be used again. */
export const usedBytes = statement<object, { bytes: number }>(
  `select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count(), pragma_freelist_count(), pragma_page_size()`,
);

const named = statement<{ names: string }, StoredLease>(
  `select * from "paystateLeases" where name in (select value from json_each({names}))`,
);

/** The acts of a commit on instances, synchronous within its transaction. One that returns false was refused. */
export class InstanceRows {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The instance goes on from the stamp `after`, or is gone with it; the version grows by `steps`, or by one. */
  step({ id, stamp, workflow, hash, status, snapshot, after, steps = 1, at, isLast }: StepRecord): boolean {
    if (isLast === true) return this.#end({ id, after });
    const next = { id, stamp, workflow, hash, status, snapshot, after, steps, at };
    return this.#connection.run(instanceStatements.step, next) === 1;
  }

  #end(step: Pick<StepRecord, "id" | "after">): boolean {
    if (this.#connection.run(instanceStatements.last, step) === 0) return false;
    this.#connection.run(instanceStatements.forget, { id: step.id });
    return true;
  }

  start(instance: InstanceRecord): boolean {
    return (
      this.#connection.run(instanceStatements.start, checkedRow(engineTables.paystateInstances, instance)) ===
      1
    );
  }

  /** Removes an ended instance of this life, with its history, that has no active child and no task. */
  remove({ id, life }: Pick<InstanceRecord, "id" | "life">): boolean {
    if (this.#connection.run(instanceStatements.remove, { id, life }) === 0) return false;
    this.#connection.run(instanceStatements.forget, { id });
    return true;
  }

  workflowOf(id: string): string | undefined {
    return this.#connection.get(instanceStatements.workflowOf, { id })?.workflow;
  }

  /** Whether the instance is there and has not ended. */
  isActive(id: string): boolean {
    return this.#connection.get(instanceStatements.isActive, { id }) !== undefined;
  }

  /** Removes rows of a history below the version `before`: `most` of them, the oldest. */
  forget(rows: { readonly instance: string; readonly before: number; readonly most: number }): void {
    this.#connection.run(instanceStatements.fold, rows);
  }

  /** @throws where the instance has this version in its history. */
  record(row: HistoryRecord): void {
    this.#connection.run(instanceStatements.record, checkedRow(engineTables.paystateHistory, row));
  }
}

/** Does not ask for the write lock while nothing changes. */
export async function leased(
  connection: Connection,
  tasks: TaskQueue,
  request: LeaseRequest,
): Promise<readonly Lease[]> {
  const plan = (): ReturnType<typeof planLeases> => {
    const rows = connection.all(named, { names: JSON.stringify(request.names) });
    return planLeases(request, rows);
  };
  const found = await connection.read(plan);
  let page = found.setBackMs > 0 ? "" : null;
  while (page !== null) {
    const after = page;
    page = await connection.write(() => tasks.moveDelayed(request.now(), after));
    await new Promise(setImmediate);
  }
  if (found.put.length === 0 && found.remove.length === 0) return found.held;
  return connection.write(() => {
    const { held, put, remove } = plan();
    for (const lease of put) connection.run(leaseStatements.put, lease);
    for (const name of remove) connection.run(leaseStatements.remove, { name });
    return held;
  });
}
