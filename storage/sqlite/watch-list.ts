/** Watches in SQLite. */
import type { Kysely } from "kysely";
import { compareTexts } from "../compare-texts.ts";
import { encodeRow } from "../sql/codecs.ts";
import { watchStatements } from "../sql/instance-statements.ts";
import type { Schema } from "../sql/schema.ts";
import type { AnyCommit, WatchListing, WatchRecord } from "../storage.ts";
import { engineTables } from "../engine-tables.ts";
import type { Connection, PreparedAll } from "./connection.ts";

export class WatchList {
  readonly #connection: Connection;
  readonly #watches: PreparedAll<ReturnType<typeof watchStatements>>;

  constructor(connection: Connection, db: Kysely<Schema>) {
    this.#connection = connection;
    this.#watches = connection.prepareAll(watchStatements(db));
  }

  /** Within a commit: removes the watches that end, then adds the new ones. */
  replace({ unwatches = [], watches = [] }: Pick<AnyCommit, "unwatches" | "watches">): void {
    for (const watch of unwatches) this.#watches.unwatch.run(watch);
    for (const watch of watches) {
      this.#watches.watch.run(encodeRow(engineTables.watches, watch) as unknown as Schema["watches"]);
    }
  }

  /** Within a read: the watches of an instance, by kind, then key. */
  ofInstance(instance: string, limit: number): WatchRecord[] {
    return this.#watches.ofInstance.all({ instance, limit });
  }

  of(listing: WatchListing): Promise<WatchRecord[]> {
    return this.#connection.read(() => {
      if ("afterKind" in listing) return this.#watches.byKind.all(listing);
      const { kind, shards } = listing;
      return [...new Set(shards)]
        .flatMap((shard) => this.#watches.inShard.all({ kind, shard }))
        .toSorted(byKey);
    });
  }
}

function byKey(a: WatchRecord, b: WatchRecord): number {
  return compareTexts(a.key, b.key) || compareTexts(a.instance, b.instance);
}
