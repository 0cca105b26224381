/** Instances, their history, watches and named leases in memory. */
import {
  type CommitTarget,
  compareTexts,
  engineTables,
  type EngineTables,
  planLeases,
  type TaskQueue,
} from "../index.ts";
import type {
  EngineStorage,
  HistoryRecord,
  InstanceListQuery,
  InstanceRecord,
  WatchRecord,
} from "../storage.ts";
import { by, type Journal, Rows } from "./rows.ts";

type Reads = Pick<EngineStorage, "load" | "history" | "list" | "watches" | "lease">;

type StoredLease = EngineTables["paystateLeases"];

export class Records {
  readonly #instances: Rows<InstanceRecord>;
  readonly #history: Rows<HistoryRecord>;
  readonly #watches: Rows<WatchRecord>;
  readonly #leases: Rows<StoredLease>;

  constructor(journal: Journal) {
    this.#instances = new Rows(engineTables.instances, journal);
    this.#history = new Rows(engineTables.history, journal);
    this.#watches = new Rows(engineTables.watches, journal);
    this.#leases = new Rows(engineTables.paystateLeases, journal);
  }

  target(hasTasks: (instance: string) => boolean): Omit<CommitTarget, "tasks" | "write"> {
    const [instances, history, watches] = [this.#instances, this.#history, this.#watches];
    return {
      step({ id, after, steps = 1, at, ...next }) {
        const instance = instances.get(id);
        if (instance?.stamp !== after) return false;
        const version = instance.version + steps;
        instances.put(instances.copy({ ...instance, ...next, version, updatedAt: at }));
        return true;
      },
      start: (instance) => instances.insert(instances.copy(instance)),
      remove({ id, life }) {
        const instance = instances.get(id);
        if (instance?.status !== "done" || instance.life !== life) return false;
        if (instances.under("parent", id).some(({ status }) => status === "active")) return false;
        if (hasTasks(id) || watches.under("instance", id).length > 0) return false;
        instances.remove(instance);
        for (const row of history.under("instance", id)) history.remove(row);
        return true;
      },
      workflowOf: (id) => instances.get(id)?.workflow,
      watch: (watch) => watches.put(watches.copy(watch)),
      unwatch({ kind, key, instance }) {
        const watch = watches.get(kind, key, instance);
        if (watch !== undefined) watches.remove(watch);
      },
      forget({ instance, before, most }) {
        const older = history.under("instance", instance).filter(({ version }) => version < before);
        const oldest = older.toSorted(by(({ version }) => version)).slice(0, most);
        for (const row of oldest) history.remove(row);
      },
      record(row) {
        if (!history.insert(history.copy(row))) {
          throw new Error(`${row.instance} has a version ${row.version} in its history`);
        }
      },
    };
  }

  /** Watches by kind, then key. */
  watchesOf(instance: string, limit: number): WatchRecord[] {
    return this.#shown(this.#watches.under("instance", instance)).slice(0, limit);
  }

  reads(moveDelayed: TaskQueue["moveDelayed"]): Reads {
    const [instances, history, watches] = [this.#instances, this.#history, this.#watches];
    return {
      load: async (id) => {
        const instance = instances.get(id);
        return instance === undefined ? null : instances.copy(instance);
      },
      history: async (instance, { after, limit }) =>
        history
          .under("instance", instance)
          .filter(({ version }) => version > after)
          .toSorted((a, b) => a.version - b.version)
          .slice(0, limit)
          .map((row) => history.copy(row)),
      list: async (listing) => listed(instances.all(), listing).map((each) => instances.copy(each)),
      watches: async (listing) => {
        if ("shards" in listing) {
          const ofKind = watches.under("kind", listing.kind);
          return this.#shown(ofKind.filter(({ shard }) => listing.shards.includes(shard)));
        }
        const later = watches.all().filter(({ kind }) => compareTexts(kind, listing.afterKind) > 0);
        return this.#shown(later).slice(0, listing.limit);
      },
      lease: async (request) => {
        const rows = this.#leases.all().filter(({ name }) => request.names.includes(name));
        const { held, put, remove, setBackMs } = planLeases(request, rows);
        let page = setBackMs > 0 ? "" : null;
        while (page !== null) page = moveDelayed(request.now, page);
        for (const lease of put) this.#leases.put(this.#leases.copy(lease));
        for (const name of remove) this.#leases.remove(this.#leases.get(name) as StoredLease);
        return held;
      },
    };
  }

  /** Copies in the order of their kinds, keys and instances. */
  #shown(watches: readonly WatchRecord[]): WatchRecord[] {
    return watches.toSorted(byKind).map((watch) => this.#watches.copy(watch));
  }
}

const byKind = by<WatchRecord>(
  ({ kind }) => kind,
  ({ key }) => key,
  ({ instance }) => instance,
);

const id = (instance: InstanceRecord): string => instance.id;
const oldestFirst = by<InstanceRecord>(({ createdAt }) => createdAt, id);

const ORDERS: {
  readonly [O in InstanceListQuery["order"]]: (a: InstanceRecord, b: InstanceRecord) => number;
} = {
  id: by(id),
  newest: (a, b) => oldestFirst(b, a),
  ended: by(({ updatedAt }) => updatedAt, id),
  workflow: by(({ workflow }) => workflow),
};

function listed(all: readonly InstanceRecord[], listing: InstanceListQuery): readonly InstanceRecord[] {
  const { order, after } = listing;
  const place = (typeof after === "string" ? { id: after, workflow: after } : after) as InstanceRecord | null;
  const isListed = ({ workflow, status, updatedAt }: InstanceRecord): boolean => {
    if (order === "id") return workflow === listing.workflow && status === listing.status;
    return order !== "ended" || (status === "done" && updatedAt <= listing.until);
  };
  return all
    .filter((each) => isListed(each) && (place === null || ORDERS[order](place, each) < 0))
    .toSorted(ORDERS[order])
    .slice(0, listing.limit);
}
