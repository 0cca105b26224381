/** Watches in memory. */
import type { WatchListing, WatchRecord } from "../storage.ts";
import { engineTables } from "../engine-tables.ts";
import { compareTexts } from "../compare-texts.ts";
import { engineShape } from "./engine-shape.ts";
import { type Journal, MemoryTable } from "./table.ts";

export class WatchList {
  readonly #watches: MemoryTable<WatchRecord>;

  constructor(journal: Journal) {
    this.#watches = new MemoryTable(engineShape(engineTables.watches), journal);
  }

  watch(watch: WatchRecord): void {
    this.#watches.put(watch);
  }

  unwatch({ kind, key, instance }: Pick<WatchRecord, "kind" | "key" | "instance">): void {
    const watch = this.#watches.get(kind, key, instance);
    if (watch !== undefined) this.#watches.remove(watch);
  }

  /** The watches of an instance, by kind, then key. */
  ofInstance(instance: string, limit: number): WatchRecord[] {
    return this.#watches
      .under("instance", instance)
      .toSorted((a, b) => compareTexts(a.kind, b.kind) || compareTexts(a.key, b.key))
      .slice(0, limit)
      .map((watch) => this.#watches.copy(watch));
  }

  of(listing: WatchListing): WatchRecord[] {
    const byKey = (a: WatchRecord, b: WatchRecord): number =>
      compareTexts(a.key, b.key) || compareTexts(a.instance, b.instance);
    const found =
      "afterKind" in listing
        ? [...this.#watches.all()]
            .filter(({ kind }) => compareTexts(kind, listing.afterKind) > 0)
            .toSorted((a, b) => compareTexts(a.kind, b.kind))
            .slice(0, listing.limit)
        : this.#watches
            .under("kind", listing.kind)
            .filter(({ shard }) => listing.shards.includes(shard))
            .toSorted(byKey);
    return found.map((watch) => this.#watches.copy(watch));
  }
}
