/** A storage adapter over plain Maps, written from the page on storage alone: it shows what that takes. */
import type {
  AnyCommit,
  CommitAnswer,
  EngineStorage,
  Find,
  InstanceListing,
  InstanceRecord,
  Table,
  WatchRecord,
} from "paystate/engine";
import {
  applyCommit,
  type CommitTarget,
  compareTexts,
  copyRow,
  engineTables,
  planLeases,
  TaskQueue,
} from "paystate/storage";
import { by, Database, keyOf } from "./database.ts";
import { Tables } from "./tables.ts";
import { Tasks } from "./tasks.ts";

export function plainMapStorage(): EngineStorage {
  const database = new Database();
  const tables = new Tables(database);
  const tasks = new TaskQueue(new Tasks(database));
  const target = targetOf(database, tables, tasks);
  return {
    install: async (wanted) => tables.install(wanted),
    get: async <R extends object>(table: Table<R>, key: string) => tables.get(table, key) as R | null,
    find: async <R extends object>(query: Find<R>) => tables.find(query) as readonly R[],
    tally: async (query) => tables.tally(query),
    commit: async (items) => items.map((item) => committed(item, database, target)),
    claim: async (request) => tasks.claim(request),
    heartbeat: async (request) => tasks.heartbeat(request),
    release: async (request) => tasks.release(request),
    nextDue: async (...asked) => tasks.nextDue(...asked),
    pending: async (instance, limit, except) => ({
      tasks: tasks.of(instance, limit, except),
      watches: watchesOf(database, (watch) => watch.instance === instance).slice(0, limit),
    }),
    tasks: async (listing) => tasks.list(listing),
    ...instanceReads(database),
    ...watching(database),
    onWake: () => () => {},
    close: async () => {},
  };
}

function committed(item: AnyCommit, database: Database, target: CommitTarget): CommitAnswer {
  const act = (): CommitAnswer => {
    const result = applyCommit(item, target);
    target.tasks.settle();
    return result;
  };
  try {
    return database.atomically(act, ({ ok }) => ok);
  } catch (error) {
    return { ok: false, conflict: "failed", error };
  }
}

/** What a commit changes. */
function targetOf(database: Database, tables: Tables, tasks: TaskQueue): CommitTarget {
  const put = (instance: InstanceRecord) =>
    database.instances.set(instance.id, copyRow(engineTables.instances, instance));
  return {
    tasks,
    write: (write) => tables.write(write),
    step({ after, steps = 1, at, ...next }) {
      const instance = database.instances.get(next.id);
      if (instance?.stamp !== after) return false;
      put({ ...instance, ...next, version: instance.version + steps, updatedAt: at });
      return true;
    },
    start(instance) {
      if (database.instances.has(instance.id)) return false;
      put(instance);
      return true;
    },
    remove: (instance) => isRemoved(instance, database, tasks),
    workflowOf: (instance) => database.instances.get(instance)?.workflow,
    unwatch: ({ kind, key, instance }) => void database.watches.delete(keyOf(kind, key, instance)),
    watch(watch) {
      const key = keyOf(watch.kind, watch.key, watch.instance);
      database.watches.set(key, copyRow(engineTables.watches, watch));
    },
    record(row) {
      const key = keyOf(row.instance, row.version);
      if (database.history.has(key)) throw new TypeError(`version ${row.version} is in the history`);
      database.history.set(key, copyRow(engineTables.history, row));
    },
  };
}

function isRemoved(
  { id, life }: Pick<InstanceRecord, "id" | "life">,
  { instances, history, watches }: Database,
  tasks: TaskQueue,
): boolean {
  const instance = instances.get(id);
  if (instance?.status !== "done" || instance.life !== life) return false;
  const hasChild = [...instances.values()].some((each) => each.parent === id && each.status === "active");
  const isWatched = [...watches.values()].some((watch) => watch.instance === id);
  if (hasChild || isWatched || tasks.of(id, 1).length > 0) return false;
  for (const [key, row] of history) if (row.instance === id) history.delete(key);
  return instances.delete(id);
}

type InstanceReads = Pick<EngineStorage, "load" | "history" | "list" | "size">;

function instanceReads(database: Database): InstanceReads {
  const all = () => [...database.instances.values()].map((instance) => ({ ...instance }));
  return {
    load: async (id) => all().find((instance) => instance.id === id) ?? null,
    history: async (instance, { after, limit }) =>
      [...database.history.values()]
        .filter((row) => row.instance === instance && row.version > after)
        .toSorted(by(({ version }) => version))
        .slice(0, limit)
        .map((row) => ({ ...row })),
    list: async (listing) => listed(all(), listing),
    size: async () => null,
  };
}

/** A page of the instances, in the order that is asked for. */
function listed(all: readonly InstanceRecord[], listing: InstanceListing): readonly InstanceRecord[] {
  const { order, after } = listing;
  const place = (typeof after === "string" ? { id: after, workflow: after } : after) as InstanceRecord | null;
  const wanted = all.filter(({ workflow, status, updatedAt }) => {
    if (order === "id") return workflow === listing.workflow && status === listing.status;
    return order !== "ended" || (status === "done" && updatedAt <= listing.until);
  });
  return wanted
    .filter((each) => place === null || ORDERS[order](place, each) < 0)
    .toSorted(ORDERS[order])
    .slice(0, listing.limit);
}

type Order = (a: InstanceRecord, b: InstanceRecord) => number;

const oldestFirst: Order = by(
  ({ createdAt }) => createdAt,
  ({ id }) => id,
);

const ORDERS: { readonly [O in InstanceListing["order"]]: Order } = {
  id: by(({ id }) => id),
  newest: (a, b) => oldestFirst(b, a),
  ended: by(
    ({ updatedAt }) => updatedAt,
    ({ id }) => id,
  ),
  workflow: by(({ workflow }) => workflow),
};

type Watching = Pick<EngineStorage, "lease" | "watches">;

function watching(database: Database): Watching {
  return {
    lease: async (request) => {
      const { held, put, remove } = planLeases(request, [...database.leases.values()]);
      for (const lease of put) database.leases.set(lease.name, lease);
      for (const name of remove) database.leases.delete(name);
      return held;
    },
    watches: async (listing) =>
      "afterKind" in listing
        ? watchesOf(database, ({ kind }) => compareTexts(kind, listing.afterKind) > 0).slice(0, listing.limit)
        : watchesOf(database, ({ kind, shard }) => kind === listing.kind && listing.shards.includes(shard)),
  };
}

/** By kind, key and instance. */
function watchesOf(database: Database, isWanted: (watch: WatchRecord) => boolean): readonly WatchRecord[] {
  return [...database.watches.values()]
    .filter(isWanted)
    .toSorted(
      by(
        ({ kind }) => kind,
        ({ key }) => key,
        ({ instance }) => instance,
      ),
    )
    .map((watch) => ({ ...watch }));
}
