/** Instances, their history, watches and named leases in SQLite. */
import type { CommitTarget } from "../apply-commit.ts";
import { compareTexts } from "../compare-texts.ts";
import { engineTables, type StoredLease } from "../engine-tables.ts";
import { planLeases } from "../named-leases.ts";
import { encodeRow } from "../sql/codecs.ts";
import { instanceStatements, leaseStatements, watchStatements } from "../sql/instance-statements.ts";
import { type Statement, statement } from "../sql/statement.ts";
import type { Lease, LeaseRequest, WatchRecord } from "../storage.ts";
import type { TaskQueue } from "../task-queue.ts";
import type { Connection } from "./connection.ts";

/** Pages that were freed wait in the file to be used again. */
export const usedBytes = statement<object, { bytes: number }>(
  `select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count(), pragma_freelist_count(), pragma_page_size()`,
);

const inShards = statement<{ kind: string; shards: string }, WatchRecord>(
  "select * from {@watches} where kind = {kind} and shard in (select value from json_each({shards}))",
);
const named = statement<{ names: string }, StoredLease>(
  `select * from "paystateLeases" where name in (select value from json_each({names}))`,
);

/** The acts of a commit on instances. */
export function instanceTarget(connection: Connection): Omit<CommitTarget, "tasks" | "write"> {
  const add = <Row extends object>(
    into: Statement<Row, unknown>,
    table: keyof typeof engineTables,
    row: Row,
  ) => connection.run(into, encodeRow(engineTables[table], row) as unknown as Row);
  return {
    step: (step) => connection.run(instanceStatements.step, { steps: 1, ...step }) === 1,
    start: (instance) => add(instanceStatements.start, "instances", instance) === 1,
    remove({ id, life }) {
      if (connection.run(instanceStatements.remove, { id, life }) === 0) return false;
      connection.run(instanceStatements.forget, { id });
      return true;
    },
    workflowOf: (id) => connection.get(instanceStatements.workflowOf, { id })?.workflow,
    unwatch: (watch) => void connection.run(watchStatements.unwatch, watch),
    watch: (watch) => void add(watchStatements.watch, "watches", watch),
    forget: (rows) => void connection.run(instanceStatements.fold, rows),
    record: (row) => void add(instanceStatements.record, "history", row),
  };
}

/** Watches of a kind in some shards, by key, then instance. */
export const watchesIn = (connection: Connection, kind: string, shards: readonly number[]): WatchRecord[] =>
  connection
    .all(inShards, { kind, shards: JSON.stringify(shards) })
    .toSorted((a, b) => compareTexts(a.key, b.key) || compareTexts(a.instance, b.instance));

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
    page = await connection.write(() => tasks.moveDelayed(request.now, after));
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
