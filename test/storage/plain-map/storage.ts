/** A storage adapter over plain Maps, written from the page on storage alone: it shows what that takes. */
import type {
  AnyCommit,
  CommitAnswer,
  CommitResult,
  EngineStorage,
  Find,
  InstanceListing,
  InstanceRecord,
  Table,
  WatchRecord,
} from "paystate/engine";
import { compareTexts, copyRow, engineTables, planLeases, storedTask } from "paystate/storage";
import { by, Database, keyOf } from "./database.ts";
import { Tables } from "./tables.ts";
import { Tasks } from "./tasks.ts";

export function plainMapStorage(): EngineStorage {
  const database = new Database();
  const tables = new Tables(database);
  const tasks = new Tasks(database);
  const commit = new Commits(database, tables, tasks);
  return {
    install: async (wanted) => tables.install(wanted),
    get: async <R extends object>(table: Table<R>, key: string) => tables.get(table, key) as R | null,
    find: async <R extends object>(query: Find<R>) => tables.find(query) as readonly R[],
    tally: async (query) => tables.tally(query),
    commit: async (items) => items.map((item) => commit.one(item)),
    claim: async (request) => tasks.claim(request),
    heartbeat: async (request) =>
      request.tasks.filter((task) => !tasks.extend(task, request)).map(({ id }) => id),
    release: async ({ id, token, dueAt, error }) => tasks.release({ id, token }, dueAt, error),
    nextDue: async (...asked) => tasks.nextDue(...asked),
    pending: async (instance, limit, except) => ({
      tasks: tasks.pending(instance, limit, except),
      watches: watchesOf(database, (watch) => watch.instance === instance).slice(0, limit),
    }),
    tasks: async (listing) => tasks.list(listing),
    ...instanceReads(database),
    ...watching(database),
    onWake: () => () => {},
    close: async () => {},
  };
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

const OK: CommitResult = { ok: true };

class Commits {
  constructor(database: Database, tables: Tables, tasks: Tasks) {
    this.#database = database;
    this.#tables = tables;
    this.#tasks = tasks;
  }

  readonly #database: Database;
  readonly #tables: Tables;
  readonly #tasks: Tasks;

  one(item: AnyCommit): CommitAnswer {
    try {
      return this.#database.atomically(
        () => this.#carryOut(item),
        ({ ok }) => ok,
      );
    } catch (error) {
      return { ok: false, conflict: "failed", error };
    }
  }

  #carryOut(item: AnyCommit): CommitResult {
    if (!this.#endTasks(item)) return { ok: false, conflict: "token" };
    this.#disarm(item);
    if (!this.#step(item) || !this.#remove(item)) return { ok: false, conflict: "step" };
    const exists = this.#start(item);
    if (exists !== null) return { ok: false, conflict: "exists", index: exists };
    const refused = (item.writes ?? []).findIndex((write) => !this.#tables.write(write));
    if (refused !== -1) return { ok: false, conflict: "write", index: refused };
    const parked = this.#follow(item);
    for (const watch of item.watches ?? []) {
      this.#database.watches.set(
        keyOf(watch.kind, watch.key, watch.instance),
        copyRow(engineTables.watches, watch),
      );
    }
    this.#remember(item);
    return parked.length === 0 ? OK : { ok: true, parked };
  }

  /** What becomes of tasks once nothing can be refused any more. */
  #follow({ adopts = [], amends = [], arms = [] }: AnyCommit): string[] {
    for (const { instance, workflow } of adopts) this.#tasks.adopt(instance, workflow);
    for (const amendment of amends) this.#tasks.amend(amendment);
    const parked: string[] = [];
    for (const { task, lease } of arms) {
      const target = task.kind === "message" ? this.#database.instances.get(task.instance) : undefined;
      const given = { ...task, workflow: target?.workflow ?? task.workflow };
      const mustWait = lease !== undefined && this.#tasks.mustWait(storedTask(given, undefined));
      if (mustWait) parked.push(task.id);
      this.#tasks.arm(storedTask(given, mustWait ? undefined : lease));
    }
    this.#tasks.settle();
    return parked;
  }

  #endTasks({ consumes, behind = [], retries = [], drops = [] }: AnyCommit): boolean {
    return (
      (consumes === undefined ? behind.length === 0 : this.#tasks.consume(consumes, behind)) &&
      retries.every(({ task, dueAt }) => this.#tasks.retry(task, dueAt)) &&
      drops.every((id) => this.#tasks.drop(id))
    );
  }

  #disarm({ disarms = [], ends = [], unwatches = [] }: AnyCommit): void {
    for (const { instance, timer } of disarms) this.#tasks.disarm(instance, timer);
    for (const instance of ends) this.#tasks.disarm(instance);
    for (const { kind, key, instance } of unwatches) {
      this.#database.watches.delete(keyOf(kind, key, instance));
    }
  }

  #step({ step }: AnyCommit): boolean {
    if (step === undefined) return true;
    const { after, at, steps = 1, ...next } = step;
    const instance = this.#database.instances.get(step.id);
    if (instance?.stamp !== after) return false;
    const stepped = { ...instance, ...next, version: instance.version + steps, updatedAt: at };
    this.#database.instances.set(step.id, copyRow(engineTables.instances, stepped));
    return true;
  }

  #remove({ removes = [] }: AnyCommit): boolean {
    const { instances, history, watches } = this.#database;
    return removes.every(({ id, life }) => {
      const instance = instances.get(id);
      const hasChild = [...instances.values()].some(
        ({ parent, status }) => parent === id && status === "active",
      );
      const isWatched = [...watches.values()].some((watch) => watch.instance === id);
      if (instance?.status !== "done" || instance.life !== life) return false;
      if (hasChild || isWatched || !this.#tasks.isIdle(id)) return false;
      for (const [key, row] of history) if (row.instance === id) history.delete(key);
      return instances.delete(id);
    });
  }

  /** The index of the first that exists already, or null. */
  #start({ starts = [] }: AnyCommit): number | null {
    for (const [index, start] of starts.entries()) {
      if (this.#database.instances.has(start.id)) return index;
      const instance = { ...start, version: 1, life: start.stamp, updatedAt: start.createdAt };
      this.#database.instances.set(start.id, copyRow(engineTables.instances, instance));
    }
    return null;
  }

  #remember({ history = [] }: AnyCommit): void {
    for (const row of history) {
      const key = keyOf(row.instance, row.version);
      if (this.#database.history.has(key)) throw new TypeError(`version ${row.version} is in the history`);
      this.#database.history.set(key, copyRow(engineTables.history, row));
    }
  }
}
