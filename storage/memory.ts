/** The reference adapter: everything in the memory of one process, with copies in and out and real rollback. */
import { MemoryDatabase } from "./memory/database.ts";
import type { EngineStorage, Find } from "./storage.ts";
import type { Table } from "./table.ts";

/**
 * A storage that lives as long as the process: for tests, simulations and trying things out. It keeps every promise of
 * the port but durability (G5), and is its own database: `close` lets go of nothing and `onWake` never calls.
 *
 * @example
 * ```ts
 * import { createEngine } from "paystate/engine";
 * import { memoryStorage } from "paystate/storage/memory";
 *
 * const engine = createEngine({ storage: memoryStorage(), workflows: [] });
 * console.log(await engine.read("kitchen")); // null
 * ```
 */
export function memoryStorage(): EngineStorage {
  const database = new MemoryDatabase();
  const { journal, instances, history, tasks, watches, tables } = database;
  return {
    install: async (wanted) => tables.install(wanted),
    get: async <R extends object>(table: Table<R>, key: string) => tables.get(table, key) as R | null,
    find: async <R extends object>(query: Find<R>) => tables.find(query) as readonly R[],
    tally: async (query) => tables.tally(query),
    commit: async (items) => database.commit(items),
    claim: async (request) => journal.atomically(() => tasks.claim(request)),
    heartbeat: async ({ tasks: held, ...beat }) =>
      journal.atomically(() => held.filter((task) => !tasks.extend(task, beat)).map(({ id }) => id)),
    release: async ({ id, token, dueAt, error }) =>
      journal.atomically(() => tasks.release({ id, token }, dueAt, error)),
    load: async (id) => {
      const instance = instances.get(id);
      return instance === undefined ? null : instances.copy(instance);
    },
    nextDue: async (...asked) => tasks.nextDue(...asked),
    history: async (instance, { after, limit }) =>
      history
        .under("instance", instance)
        .filter((row) => row.version > after)
        .toSorted((a, b) => a.version - b.version)
        .slice(0, limit)
        .map((row) => history.copy(row)),
    lease: async (request) => journal.atomically(() => database.lease(request)),
    watches: async (listing) => watches.of(listing),
    list: async (listing) => database.list(listing),
    size: async () => null,
    pending: async (instance, limit, except) => ({
      tasks: tasks.of(instance, limit, except),
      watches: watches.ofInstance(instance, limit),
    }),
    tasks: async (listing) => tasks.list(listing),
    onWake: () => () => {},
    close: async () => {},
  };
}
