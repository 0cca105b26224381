/** The statements on instances, their history, and named leases; and what is read by them. */
import { checkLimit } from "../check-limit.ts";
import { columnsOf } from "../row.ts";
import { engineTables, type StoredLease } from "../engine-tables.ts";
import type {
  EngineStorage,
  HistoryRecord,
  InstanceListQuery,
  InstanceRecord,
  StepRecord,
} from "../storage.ts";
import {
  insertInto,
  namedRead,
  quoted,
  type StatementReader,
  type Statement,
  statement,
} from "./statement.ts";

const inserting = (table: keyof typeof engineTables): string =>
  insertInto(quoted(table), columnsOf(engineTables[table]));

/** Statements of commits on instances, and reads of a single instance. */
export const instanceStatements = {
  start: statement<InstanceRecord>(`${inserting("paystateInstances")} on conflict do nothing`),
  step: statement<
    Required<Omit<StepRecord, "isLast">>
  >(`update "paystateInstances" set stamp = {stamp}, workflow = {workflow}, hash = {hash}, status = {status},
    snapshot = {snapshot}, "updatedAt" = {at}, version = version + {steps} where id = {id} and stamp = {after}`),
  last: statement<Pick<StepRecord, "id" | "after">>(
    `delete from "paystateInstances" where id = {id} and stamp = {after}`,
  ),
  remove: statement<Pick<InstanceRecord, "id" | "life">>(
    `delete from "paystateInstances" where id = {id} and life = {life} and status = 'done'
      and not exists (select 1 from "paystateInstances" child where child.parent = "paystateInstances".id and child.status = 'active')
      and not exists (select 1 from "paystateTasks" where "paystateTasks".instance = "paystateInstances".id)`,
  ),
  forget: statement<{ id: string }>(`delete from "paystateHistory" where instance = {id}`),
  fold: statement<{ instance: string; before: number; most: number }>(
    `delete from "paystateHistory" where instance = {instance} and version in (
      select version from "paystateHistory" where instance = {instance} and version < {before} order by version limit {most})`,
  ),
  record: statement<HistoryRecord>(inserting("paystateHistory")),
  load: namedRead<{ id: string }, InstanceRecord>(`select * from "paystateInstances" where id = {id}`),
  workflowOf: statement<{ id: string }, { workflow: string }>(
    `select workflow from "paystateInstances" where id = {id}`,
  ),
  isActive: statement<{ id: string }, { id: string }>(
    `select id from "paystateInstances" where id = {id} and status = 'active'`,
  ),
  history: statement<{ instance: string; after: number; limit: number }, HistoryRecord>(
    `select * from "paystateHistory" where instance = {instance} and version > {after} order by version limit {limit}`,
  ),
};

/** Instances in pages, by the order that is asked for. Times and ids of the place before a page: `listingValues`. */
export const listStatements = {
  id: statement<object, InstanceRecord>(
    `select * from "paystateInstances" where workflow = {workflow} and status = {status} and id > {after} order by id limit {limit}`,
  ),
  workflow: statement<object, InstanceRecord>(
    `select * from "paystateInstances" where workflow > {after} order by workflow limit {limit}`,
  ),
  newest: statement<object, InstanceRecord>(
    `select * from "paystateInstances" where ("createdAt", id) < ({at}, {id}) order by "createdAt" desc, id desc limit {limit}`,
  ),
  // The status is a literal: otherwise the planner cannot tell that the partial index contains all wanted rows.
  ended: statement<object, InstanceRecord>(
    `select * from "paystateInstances" where status = 'done' and "updatedAt" <= {until} and ("updatedAt", id) > ({at}, {id})
      order by "updatedAt", id limit {limit}`,
  ),
};

/** The values for the statement of this listing. The first page begins before every time and id. */
function listingValues(listing: InstanceListQuery): object {
  if (listing.order === "newest") {
    const { createdAt: at, id } = listing.after ?? { createdAt: Number.MAX_SAFE_INTEGER, id: "" };
    return { ...listing, at, id };
  }
  if (listing.order === "ended") {
    const { updatedAt: at, id } = listing.after ?? { updatedAt: Number.MIN_SAFE_INTEGER, id: "" };
    return { ...listing, at, id };
  }
  return listing;
}

/** Statements on named leases. */
export const leaseStatements = {
  put: statement<StoredLease>(`${inserting("paystateLeases")}
    on conflict (name) do update set holder = {holder}, until = {until}, ms = {ms}`),
  remove: statement<{ name: string }>(`delete from "paystateLeases" where name = {name}`),
};

export const instanceReads = (
  read: StatementReader,
  usedBytes: Statement<object, { readonly bytes: number }>,
): Pick<EngineStorage, "load" | "history" | "list" | "size"> => ({
  load: async (id) => (await read(instanceStatements.load, { id }))[0] ?? null,
  async history(instance, { after, limit }) {
    checkLimit("history", limit);
    return read(instanceStatements.history, { instance, after, limit });
  },
  async list(listing) {
    checkLimit("list", listing.limit);
    return read(listStatements[listing.order], listingValues(listing));
  },
  size: async () => (await read(usedBytes, {}))[0]?.bytes ?? null,
});
