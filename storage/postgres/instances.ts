/** Instances, their history and watches in PostgreSQL, and how much all takes. */
import {
  instanceStatements,
  listingValues,
  listStatements,
  watchStatements,
} from "../sql/instance-statements.ts";
import { statement } from "../sql/statement.ts";
import type { EngineStorage, WatchRecord } from "../storage.ts";
import type { Database } from "./database.ts";

/** With their indexes and long values. */
const usedBytes = statement<object, { bytes: number }>(
  `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relkind = 'r'`,
);

const inShards = statement<{ kind: string; shards: string }, WatchRecord>(
  `select * from watches where kind = {kind} and shard = any(string_to_array(nullif({shards}, ''), ',')::bigint[])
    order by key, instance`,
);

export function instanceReads(
  database: Database,
): Pick<EngineStorage, "load" | "history" | "list" | "size" | "watches"> {
  return {
    load: async (id) => (await database.read(instanceStatements.load, { id }))[0] ?? null,
    history: (instance, { after, limit }) =>
      database.read(instanceStatements.history, { instance, after, limit }),
    list: (listing) => database.read(listStatements[listing.order], listingValues(listing)),
    size: async () => (await database.read(usedBytes, {}))[0]?.bytes ?? null,
    watches: (listing) =>
      "afterKind" in listing
        ? database.read(watchStatements.byKind, listing)
        : database.read(inShards, { kind: listing.kind, shards: listing.shards.join(",") }),
  };
}
