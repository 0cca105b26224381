/** Instances, their history, watches and named leases in memory. */
import type { CommitTarget } from "../apply-commit.ts";
import { engineTables, type StoredLease } from "../engine-tables.ts";
import { planLeases } from "../named-leases.ts";
import type {
  EngineStorage,
  HistoryRecord,
  InstanceListing,
  InstanceRecord,
  Lease,
  LeaseRequest,
  StepRecord,
  WatchListing,
  WatchRecord,
} from "../storage.ts";
import { by, compare, type Order } from "./order.ts";
import { type Journal, MemoryTable } from "./table.ts";

type Reads = Pick<EngineStorage, "load" | "history" | "list" | "watches" | "lease">;

export class Instances implements Omit<CommitTarget, "tasks" | "write"> {
  readonly #instances: MemoryTable<InstanceRecord>;
  readonly #history: MemoryTable<HistoryRecord>;
  readonly #watches: MemoryTable<WatchRecord>;
  readonly #leases: MemoryTable<StoredLease>;
  readonly #hasTasks: (instance: string) => boolean;

  constructor(journal: Journal, hasTasks: (instance: string) => boolean) {
    this.#instances = new MemoryTable(engineTables.instances, journal);
    this.#history = new MemoryTable(engineTables.history, journal);
    this.#watches = new MemoryTable(engineTables.watches, journal);
    this.#leases = new MemoryTable(engineTables.paystateLeases, journal);
    this.#hasTasks = hasTasks;
  }

  step({ id, after, steps = 1, at, ...next }: StepRecord): boolean {
    const instance = this.#instances.get(id);
    if (instance?.stamp !== after) return false;
    return this.#instances.put({ ...instance, ...next, version: instance.version + steps, updatedAt: at });
  }

  start(instance: InstanceRecord): boolean {
    return this.#instances.insert(instance);
  }

  remove({ id, life }: Pick<InstanceRecord, "id" | "life">): boolean {
    const instance = this.#instances.get(id);
    if (instance?.status !== "done" || instance.life !== life) return false;
    if (this.#instances.under("parent", id).some(({ status }) => status === "active")) return false;
    if (this.#hasTasks(id) || this.#watches.under("instance", id).length > 0) return false;
    this.#instances.remove(instance);
    for (const row of this.#history.under("instance", id)) this.#history.remove(row);
    return true;
  }

  workflowOf(id: string): string | undefined {
    return this.#instances.get(id)?.workflow;
  }

  watch(watch: WatchRecord): void {
    this.#watches.put(watch);
  }

  unwatch({ kind, key, instance }: Pick<WatchRecord, "kind" | "key" | "instance">): void {
    const watch = this.#watches.get(kind, key, instance);
    if (watch !== undefined) this.#watches.remove(watch);
  }

  record(row: HistoryRecord): void {
    const isNew = this.#history.insert(row);
    if (!isNew) throw new Error(`${row.instance} has a version ${row.version} in its history`);
  }

  /** By kind, then key. */
  watchesOf(instance: string, limit: number): WatchRecord[] {
    return this.#shown(this.#watches.under("instance", instance)).slice(0, limit);
  }

  get reads(): Reads {
    return {
      load: async (id) => {
        const instance = this.#instances.get(id);
        return instance === undefined ? null : this.#instances.copy(instance);
      },
      history: async (instance, { after, limit }) =>
        this.#history
          .under("instance", instance)
          .filter(({ version }) => version > after)
          .toSorted((a, b) => a.version - b.version)
          .slice(0, limit)
          .map((row) => this.#history.copy(row)),
      list: async (listing) => this.#list(listing),
      watches: async (listing) => this.#watched(listing),
      lease: async (request) => this.#lease(request),
    };
  }

  #list(listing: InstanceListing): InstanceRecord[] {
    const { order, after } = listing;
    const place = typeof after === "string" ? { id: after, workflow: after } : after;
    return this.#instances
      .all()
      .filter((each) => isListed(each, listing))
      .filter((each) => place === null || ORDERS[order](place as InstanceRecord, each) < 0)
      .toSorted(ORDERS[order])
      .slice(0, listing.limit)
      .map((each) => this.#instances.copy(each));
  }

  #watched(listing: WatchListing): WatchRecord[] {
    if ("afterKind" in listing) {
      const later = this.#watches.all().filter(({ kind }) => compare(kind, listing.afterKind) > 0);
      return this.#shown(later).slice(0, listing.limit);
    }
    const { kind, shards } = listing;
    return this.#shown(this.#watches.under("kind", kind).filter(({ shard }) => shards.includes(shard)));
  }

  /** Copies in the order of their kinds, keys and instances. */
  #shown(watches: readonly WatchRecord[]): WatchRecord[] {
    return watches
      .toSorted(
        by(
          ({ kind }) => kind,
          ({ key }) => key,
          ({ instance }) => instance,
        ),
      )
      .map((watch) => this.#watches.copy(watch));
  }

  #lease(request: LeaseRequest): readonly Lease[] {
    const { held, put, remove } = planLeases(request, this.#leases.all());
    for (const lease of put) this.#leases.put(lease);
    for (const name of remove) this.#leases.remove(this.#leases.get(name) as StoredLease);
    return held;
  }
}

const id = (instance: InstanceRecord): string => instance.id;
const oldestFirst = by<InstanceRecord>(({ createdAt }) => createdAt, id);

const ORDERS: { readonly [O in InstanceListing["order"]]: Order<InstanceRecord> } = {
  id: by(id),
  newest: (a, b) => oldestFirst(b, a),
  ended: by(({ updatedAt }) => updatedAt, id),
  workflow: by(({ workflow }) => workflow),
};

function isListed({ workflow, status, updatedAt }: InstanceRecord, listing: InstanceListing): boolean {
  if (listing.order === "id") return workflow === listing.workflow && status === listing.status;
  return listing.order !== "ended" || (status === "done" && updatedAt <= listing.until);
}
