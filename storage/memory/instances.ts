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
import { by, type Journal, type Order, Rows } from "./rows.ts";

interface Records {
  readonly instances: Rows<InstanceRecord>;
  readonly history: Rows<HistoryRecord>;
  readonly watches: Rows<WatchRecord>;
  readonly leases: Rows<EngineTables["paystateLeases"]>;
}

export const recordsIn = (journal: Journal): Records => ({
  instances: new Rows(engineTables.instances, journal),
  history: new Rows(engineTables.history, journal),
  watches: new Rows(engineTables.watches, journal),
  leases: new Rows(engineTables.paystateLeases, journal),
});

/** The acts of a commit on instances. */
export const instanceTarget = (
  { instances, history, watches }: Records,
  hasTasks: (instance: string) => boolean,
): Omit<CommitTarget, "tasks" | "write"> => ({
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
    const children = instances.select({ under: ["parent", id] });
    if (children.some(({ status }) => status === "active")) return false;
    if (hasTasks(id) || watches.select({ under: ["instance", id] }).length > 0) return false;
    instances.remove(instance);
    for (const row of history.select({ under: ["instance", id] })) history.remove(row);
    return true;
  },
  workflowOf: (id) => instances.get(id)?.workflow,
  watch: (watch) => watches.put(watches.copy(watch)),
  unwatch: ({ kind, key, instance }) => watches.remove(watches.get(kind, key, instance)),
  forget({ instance, before, most: limit }) {
    const where = ({ version }: HistoryRecord): boolean => version < before;
    const oldest = history.select({ under: ["instance", instance], where, order: by("version"), limit });
    for (const row of oldest) history.remove(row);
  },
  record(row) {
    if (!history.insert(history.copy(row))) {
      throw new Error(`${row.instance} has a version ${row.version} in its history`);
    }
  },
});

/** Watches by kind, then key. */
export const watchesOf = ({ watches }: Records, instance: string, limit: number): WatchRecord[] =>
  watches.copies({ under: ["instance", instance], order: byKind, limit });

export const instanceReads = (
  { instances, history, watches, leases }: Records,
  moveDelayed: TaskQueue["moveDelayed"],
): Pick<EngineStorage, "load" | "history" | "list" | "watches" | "lease"> => ({
  load: async (id) => {
    const instance = instances.get(id);
    return instance === undefined ? null : instances.copy(instance);
  },
  history: async (instance, { after, limit }) =>
    history.copies({
      under: ["instance", instance],
      where: ({ version }) => version > after,
      order: by("version"),
      limit,
    }),
  list: async (listing) => listed(instances, listing),
  watches: async (listing) => {
    if ("shards" in listing) {
      const where = ({ shard }: WatchRecord): boolean => listing.shards.includes(shard);
      return watches.copies({ under: ["kind", listing.kind], where, order: byKind });
    }
    const { afterKind, limit } = listing;
    const where = ({ kind }: WatchRecord): boolean => compareTexts(kind, afterKind) > 0;
    return watches.copies({ where, order: byKind, limit });
  },
  lease: async (request) => {
    const rows = [...new Set(request.names)].flatMap((name) => leases.get(name) ?? []);
    const { held, put, remove, setBackMs } = planLeases(request, rows);
    let page = setBackMs > 0 ? "" : null;
    while (page !== null) page = moveDelayed(request.now, page);
    for (const lease of put) leases.put(leases.copy(lease));
    for (const name of remove) leases.remove(leases.get(name));
    return held;
  },
});

const byKind = by<WatchRecord>("kind", "key", "instance");
const oldestFirst = by<InstanceRecord>("createdAt", "id");

const ORDERS: { readonly [O in InstanceListQuery["order"]]: Order<InstanceRecord> } = {
  id: by("id"),
  newest: (a, b) => oldestFirst(b, a),
  ended: by("updatedAt", "id"),
  workflow: by("workflow"),
};

function listed(instances: Rows<InstanceRecord>, listing: InstanceListQuery): readonly InstanceRecord[] {
  const { after, limit } = listing;
  const order = ORDERS[listing.order];
  const place = (typeof after === "string" ? { id: after, workflow: after } : after) as InstanceRecord | null;
  const isListed = ({ workflow, status, updatedAt }: InstanceRecord): boolean => {
    if (listing.order === "id") return workflow === listing.workflow && status === listing.status;
    return listing.order !== "ended" || (status === "done" && updatedAt <= listing.until);
  };
  const where = (each: InstanceRecord): boolean =>
    isListed(each) && (place === null || order(place, each) < 0);
  return instances.copies({ where, order, limit });
}
