/** A storage whose caller's tables are installed before it is first used. */
import type { EngineStorage } from "./storage.ts";
import type { AnyTable } from "./table.ts";

/** Installs the tables once, before the first call that needs them. Where that fails the next call tries again. */
export function withTables(storage: EngineStorage, tables: readonly AnyTable[]): EngineStorage {
  const ready = installedFirst(storage, tables);
  return {
    install: (more) => storage.install(more),
    commit: (items) => ready(() => storage.commit(items)),
    claim: (request) => ready(() => storage.claim(request)),
    get: (table, key) => ready(() => storage.get(table, key)),
    find: (query) => ready(() => storage.find(query)),
    tally: (query) => ready(() => storage.tally(query)),
    heartbeat: (request) => storage.heartbeat(request),
    release: (request) => storage.release(request),
    load: (id) => storage.load(id),
    nextDue: (...asked) => storage.nextDue(...asked),
    history: (instance, page) => storage.history(instance, page),
    lease: (request) => storage.lease(request),
    watches: (listing) => storage.watches(listing),
    list: (listing) => storage.list(listing),
    size: () => storage.size(),
    pending: (...asked) => storage.pending(...asked),
    tasks: (listing) => storage.tasks(listing),
    onWake: (listener) => storage.onWake(listener),
    close: () => storage.close(),
    ...(storage.building && { building: storage.building.bind(storage) }),
    // A host's transaction comes behind the first commit, which has installed them.
    ...(storage.within && { within: storage.within.bind(storage) }),
    // A task has been claimed before it.
    ...(storage.transact && { transact: storage.transact.bind(storage) }),
    ...(storage.time && { time: storage.time.bind(storage) }),
  };
}

/** Calls at once what is asked for when the tables are installed, and else when they are. */
function installedFirst(
  storage: EngineStorage,
  tables: readonly AnyTable[],
): <A>(act: () => Promise<A>) => Promise<A> {
  let installed = tables.length === 0;
  let installing: Promise<void> | null = null;
  const install = async (): Promise<void> => {
    try {
      await storage.install(tables);
      installed = true;
    } finally {
      installing = null;
    }
  };
  return (act) => (installed ? act() : (installing ??= install()).then(act));
}
