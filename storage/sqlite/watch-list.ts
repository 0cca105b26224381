/** Watches in SQLite, and who polls which shard of them. */
import type { Kysely } from "kysely";
import { encodeRow } from "../sql/codecs.ts";
import { watchStatements } from "../sql/instance-statements.ts";
import type { Schema } from "../sql/schema.ts";
import type { Commit, EngineStorage, WatchRecord } from "../storage.ts";
import { engineTables } from "../tables.ts";
import type { Connection, PreparedAll } from "./connection.ts";

type ClaimShards = Parameters<EngineStorage<unknown>["claimShards"]>[0];

export class WatchList {
  readonly #connection: Connection;
  readonly #watches: PreparedAll<ReturnType<typeof watchStatements>>;

  constructor(connection: Connection, db: Kysely<Schema>) {
    this.#connection = connection;
    this.#watches = connection.prepareAll(watchStatements(db));
  }

  /** Within a commit: what it no longer watches, then what it does. */
  replace({ unwatches = [], watches = [] }: Pick<Commit<unknown>, "unwatches" | "watches">): void {
    for (const watch of unwatches) this.#watches.unwatch.run(watch);
    for (const watch of watches) {
      this.#watches.watch.run(encodeRow(engineTables.watches, watch) as unknown as Schema["watches"]);
    }
  }

  async claim(request: ClaimShards): Promise<number[]> {
    const found = await this.#connection.read(() => this.#claimable(request));
    if (found.stale.length === 0) return found.held;
    return this.#connection.write(() => {
      const { held, stale } = this.#claimable(request);
      const { kind, holder, now, leaseMs } = request;
      for (const shard of stale) this.#watches.lease.run({ kind, shard, holder, leaseUntil: now + leaseMs });
      return held;
    });
  }

  /** The shards this holder can have, and those among them for which a lease must be written. */
  #claimable({ kind, holder, now, leaseMs }: ClaimShards): { held: number[]; stale: number[] } {
    const leases = new Map(this.#watches.leases.all({ kind }).map((lease) => [lease.shard, lease]));
    const held = this.#shards(kind).filter((shard) => {
      const lease = leases.get(shard);
      return lease === undefined || lease.holder === holder || lease.leaseUntil <= now;
    });
    const stale = held.filter((shard) => {
      const lease = leases.get(shard);
      return lease?.holder !== holder || lease.leaseUntil - now <= leaseMs / 2;
    });
    return { held, stale };
  }

  #shards(kind: string): number[] {
    const shards: number[] = [];
    let next = this.#watches.shardAfter.get({ kind, after: -1 });
    while (next !== undefined) {
      shards.push(next.shard);
      next = this.#watches.shardAfter.get({ kind, after: next.shard });
    }
    return shards;
  }

  async release(holder: string): Promise<void> {
    await this.#connection.write(() => this.#watches.release.run({ holder }));
  }

  of(kind: string, shards: readonly number[]): Promise<WatchRecord[]> {
    return this.#connection.read(() =>
      [...new Set(shards)].flatMap((shard) => this.#watches.inShard.all({ kind, shard })).toSorted(byKey),
    );
  }
}

function byKey(a: WatchRecord, b: WatchRecord): number {
  return compare(a.key, b.key) || compare(a.instance, b.instance);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
