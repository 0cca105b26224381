/** Watches in PostgreSQL. */
import type { Kysely } from "kysely";
import { watchStatements } from "../sql/instance-statements.ts";
import type { Schema } from "../sql/schema.ts";
import type { WatchRecord } from "../storage.ts";
import type { Database } from "./database.ts";

export class WatchList {
  readonly #database: Database;
  readonly #watches: ReturnType<typeof watchStatements>;

  constructor(database: Database, db: Kysely<Schema>) {
    this.#database = database;
    this.#watches = watchStatements(db);
  }

  of(kind: string, shards: readonly number[]): Promise<WatchRecord[]> {
    return this.#database.read(IN_SHARDS, { kind, shards: shards.join(",") });
  }

  /** The kinds of which there is any watch. */
  async kinds(): Promise<string[]> {
    return (await this.#database.read(KINDS, {})).map(({ kind }) => kind);
  }

  /** The watches of an instance, by kind, then key. */
  ofInstance(instance: string, limit: number): Promise<WatchRecord[]> {
    return this.#database.read(this.#watches.ofInstance, { instance, limit });
  }
}

const KINDS = {
  sql: `with recursive found (kind) as (
      (select kind from watches order by kind limit 1)
      union all
      select next.kind from found cross join lateral (
        select w.kind from watches w where w.kind > found.kind order by w.kind limit 1) next
    )
    select kind from found`,
  parameters: [] as readonly never[],
} as { sql: string; parameters: readonly never[]; row?: { kind: string } };

const IN_SHARDS = {
  sql: `select * from watches
    where kind = $1 and shard = any(string_to_array(nullif($2, ''), ',')::bigint[]) order by key, instance`,
  parameters: ["kind", "shards"],
} as { sql: string; parameters: readonly ("kind" | "shards")[]; row?: WatchRecord };
