/** The reference adapter: everything in the memory of one process, with copies in and out and real rollback. */
import { applyCommit, TaskQueue } from "./index.ts";
import { instanceReads, instanceTarget, recordsIn, watchesOf } from "./memory/instances.ts";
import { Journal } from "./memory/rows.ts";
import { Tables } from "./memory/tables.ts";
import { memoryTaskRows } from "./memory/task-rows.ts";
import type { AnyCommit, AnyWrite, CommitAnswer, EngineStorage, RowQuery } from "./storage.ts";
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
  const journal = new Journal();
  const tasks = new TaskQueue(memoryTaskRows(journal));
  const tables = new Tables(journal);
  const records = recordsIn(journal);
  const target = {
    tasks,
    write: (write: AnyWrite) => tables.of(write.table).write(write),
    ...instanceTarget(records, (id) => tasks.of(id, 1).length > 0),
  };

  /** Applies commits separately: a commit with a mistake fails alone. */
  const commit = (item: AnyCommit): CommitAnswer => {
    try {
      return journal.atomically(
        () => applyCommit(item, target),
        ({ ok }) => ok,
      );
    } catch (error) {
      return { ok: false, conflict: "failed", error };
    }
  };

  /** As in a database, what has room is admitted behind the last of the commits that come together. */
  const commitAll = (items: readonly AnyCommit[]): CommitAnswer[] => {
    const answers = items.map(commit);
    const admits = journal.atomically(() => tasks.settle());
    return admits ? answers.map((answer) => (answer.ok ? { ...answer, admits } : answer)) : answers;
  };

  return {
    install: async (wanted) => tables.install(wanted),
    get: async <R extends object>(table: Table<R>, key: string) => tables.of(table.name).get(key) as R | null,
    find: async <R extends object>(query: RowQuery<R>) =>
      tables.of(query.table.name).find(query) as readonly R[],
    tally: async (query) => tables.of(query.table.name).tally(query),
    commit: async (items) => commitAll(items),
    claim: async (request) => journal.atomically(() => tasks.claim(request)),
    heartbeat: async (request) => journal.atomically(() => tasks.heartbeat(request)),
    release: async (request) => journal.atomically(() => tasks.release(request)),
    nextDue: async (...asked) => tasks.nextDue(...asked),
    ...instanceReads(records, (now, after) => journal.atomically(() => tasks.moveDelayed(now, after))),
    size: async () => null,
    pending: async (instance, limit, except) => ({
      tasks: tasks.of(instance, limit, except),
      watches: watchesOf(records, instance, limit),
    }),
    tasks: async (listing) => tasks.list(listing),
    onWake: () => () => {},
    close: async () => {},
  };
}
