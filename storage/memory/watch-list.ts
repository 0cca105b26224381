/** Watches in memory, and who polls which shard of them. */
import type { WatchRecord } from "../storage.ts";
import { engineTables, type ShardLease } from "../tables.ts";
import { type Journal, MemoryTable } from "./table.ts";

export class WatchList {
  readonly #watches: MemoryTable<WatchRecord>;
  readonly #leases: MemoryTable<ShardLease>;

  constructor(journal: Journal) {
    this.#watches = new MemoryTable(engineTables.watches, journal);
    this.#leases = new MemoryTable(engineTables.watchShards, journal);
  }

  watch(watch: WatchRecord): void {
    this.#watches.put(watch);
  }

  unwatch({ kind, key, instance }: Pick<WatchRecord, "kind" | "key" | "instance">): void {
    const watch = this.#watches.get(kind, key, instance);
    if (watch !== undefined) this.#watches.remove(watch);
  }

  /** The shards this holder has now: kept, extended or taken. */
  claim(kind: string, holder: string, now: number, leaseMs: number): number[] {
    const shards = new Set(this.#watches.under(kind).map((watch) => watch.shard));
    return [...shards]
      .toSorted((a, b) => a - b)
      .filter((shard) => {
        const lease = this.#leases.get(kind, shard);
        const own = lease?.holder === holder;
        if (lease !== undefined && !own && lease.leaseUntil > now) return false;
        const isFresh = own && lease.leaseUntil - now > leaseMs / 2;
        if (!isFresh) this.#leases.put({ kind, shard, holder, leaseUntil: now + leaseMs });
        return true;
      });
  }

  release(holder: string): void {
    for (const lease of [...this.#leases.all()]) if (lease.holder === holder) this.#leases.remove(lease);
  }

  of(kind: string, shards: readonly number[]): WatchRecord[] {
    const byKey = (a: WatchRecord, b: WatchRecord): number =>
      compare(a.key, b.key) || compare(a.instance, b.instance);
    return this.#watches
      .under(kind)
      .filter((watch) => shards.includes(watch.shard))
      .toSorted(byKey)
      .map((watch) => this.#watches.copy(watch));
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
