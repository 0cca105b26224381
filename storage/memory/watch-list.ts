/** Watches in memory, and who polls which shard of them. */
import { shareShards, type ShardClaim } from "../shard-shares.ts";
import type { WatchRecord } from "../storage.ts";
import { engineTables, type ShardLease } from "../engine-tables.ts";
import { compareTexts } from "../compare-texts.ts";
import { engineShape } from "./engine-shape.ts";
import { type Journal, MemoryTable } from "./table.ts";

export class WatchList {
  readonly #watches: MemoryTable<WatchRecord>;
  readonly #leases: MemoryTable<ShardLease>;

  constructor(journal: Journal) {
    this.#watches = new MemoryTable(engineShape(engineTables.watches), journal);
    this.#leases = new MemoryTable(engineShape(engineTables.watchShards), journal);
  }

  watch(watch: WatchRecord): void {
    this.#watches.put(watch);
  }

  unwatch({ kind, key, instance }: Pick<WatchRecord, "kind" | "key" | "instance">): void {
    const watch = this.#watches.get(kind, key, instance);
    if (watch !== undefined) this.#watches.remove(watch);
  }

  /** The shards this holder has now: kept, extended, taken, or handed to it before. */
  claim(claim: ShardClaim): readonly number[] {
    const { kind } = claim;
    const shards = [...new Set(this.#watches.under("kind", kind).map((watch) => watch.shard))];
    const leases = this.#leases.under("kind", kind);
    const ascending = shards.toSorted((a, b) => a - b);
    const { held, put, remove } = shareShards(claim, ascending, leases);
    for (const lease of remove) this.#leases.remove(lease);
    for (const lease of put) this.#leases.put(lease);
    return held;
  }

  /** The watches of an instance, by kind, then key. */
  ofInstance(instance: string, limit: number): WatchRecord[] {
    return this.#watches
      .under("instance", instance)
      .toSorted((a, b) => compareTexts(a.kind, b.kind) || compareTexts(a.key, b.key))
      .slice(0, limit)
      .map((watch) => this.#watches.copy(watch));
  }

  /** The kinds of which there is any watch. */
  kinds(): string[] {
    return [...new Set([...this.#watches.all()].map(({ kind }) => kind))].toSorted();
  }

  release(holder: string): void {
    for (const lease of [...this.#leases.all()]) if (lease.holder === holder) this.#leases.remove(lease);
  }

  of(kind: string, shards: readonly number[]): WatchRecord[] {
    const byKey = (a: WatchRecord, b: WatchRecord): number =>
      compareTexts(a.key, b.key) || compareTexts(a.instance, b.instance);
    return this.#watches
      .under("kind", kind)
      .filter((watch) => shards.includes(watch.shard))
      .toSorted(byKey)
      .map((watch) => this.#watches.copy(watch));
  }
}
