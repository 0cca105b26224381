/** Watches in PostgreSQL. */
import type { Kysely } from "kysely";
import { watchStatements } from "../sql/instance-statements.ts";
import type { Schema } from "../sql/schema.ts";
import type { WatchListing, WatchRecord } from "../storage.ts";
import type { Database } from "./database.ts";

export class WatchList {
  readonly #database: Database;
  readonly #watches: ReturnType<typeof watchStatements>;

  constructor(database: Database, db: Kysely<Schema>) {
    this.#database = database;
    this.#watches = watchStatements(db);
  }

  of(listing: WatchListing): Promise<WatchRecord[]> {
    if ("afterKind" in listing) return this.#database.read(this.#watches.byKind, listing);
    return this.#database.read(IN_SHARDS, { kind: listing.kind, shards: listing.shards.join(",") });
  }

  /** The watches of an instance, by kind, then key. */
  ofInstance(instance: string, limit: number): Promise<WatchRecord[]> {
    return this.#database.read(this.#watches.ofInstance, { instance, limit });
  }
}

const IN_SHARDS = {
  sql: `select * from watches
    where kind = $1 and shard = any(string_to_array(nullif($2, ''), ',')::bigint[]) order by key, instance`,
  parameters: ["kind", "shards"],
} as { sql: string; parameters: readonly ("kind" | "shards")[]; row?: WatchRecord };
