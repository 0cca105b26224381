/** SQLite: one file, any number of processes on one machine, durable when a commit resolves. */
import type { EngineStorage } from "./storage.ts";
import { CommitTarget } from "./sqlite/apply-commit.ts";
import { committed } from "./sqlite/commits.ts";
import { Connection } from "./sqlite/connection.ts";
import { usableHandle } from "./sqlite/driver.ts";
import type { SqliteDatabase } from "./sqlite/handle.ts";
import { FileGuard } from "./sqlite/file-guard.ts";
import { leased, usedBytes } from "./sqlite/instances.ts";
import type { NodeSqliteDatabase } from "./sqlite/node-sqlite.ts";
import { openDatabase, prepareDatabase } from "./sqlite/open.ts";
import { openReadOnly } from "./sqlite/open-read-only.ts";
import { databaseDialect } from "./sqlite/tables.ts";
import { GivenTables } from "./sql/given-tables.ts";
import { instanceReads } from "./sql/instance-statements.ts";
import type { StatementReader } from "./sql/statement.ts";
import { hostCommits } from "./sqlite/within.ts";

export {
  backupSqlite,
  type SqliteBackup,
  type SqliteBackupOptions,
  type SqliteBackupProgress,
} from "./sqlite/backup.ts";
export type { SqliteDatabase, SqliteStatement } from "./sqlite/handle.ts";
export type { NodeSqliteDatabase, NodeSqliteStatement, NodeSqliteValue } from "./sqlite/node-sqlite.ts";
export { StorageUnusable, type StorageUnusableCode } from "./storage-unusable.ts";

/** Options of a storage on SQLite. */
export interface SqliteOptions {
  /** `false` refuses a file that paystate has not written to yet, and makes none. Default true. */
  readonly create?: boolean;
  /** For tests: a clock that only grows, in milliseconds; it decides when a long batch lets the event loop have a turn. */
  readonly elapsed?: () => number;
}

// oxlint-disable-next-line paystate/no-ambient -- paces a batch and decides nothing that is stored
const sinceProcessStart = (): number => performance.now();

/**
 * Opens a storage in an SQLite database: a path (created with mode 0600 when it is new); or an open database: the `Database`
 * of better-sqlite3 12 or 13 or the `DatabaseSync` of `node:sqlite`, which then stays open on `close`. Tables of your own may
 * be there before or come after, under names that do not begin with `paystate`: see `foreign_database`. A path is opened by
 * better-sqlite3 where that is installed, else by `node:sqlite`. Either way the connection is set to WAL with `synchronous =
 * FULL`, so that what resolved survives a loss of power, and to a busy timeout of 0. A new one gets its tables first.
 *
 * Several processes may use one file. A lock held by another, or an open transaction of the host, is awaited for up to five
 * seconds, without blocking the event loop; `onWake` never calls. Where the file of a path is deleted, replaced or cut short
 * under it, every call rejects with `replaced` a tenth of a second later; that of a database that was open is not watched.
 *
 * @throws StorageUnusable when the driver or the database cannot be used, with a sentence that says what to do.
 *
 * @example
 * ```ts
 * import { createEngine } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 *
 * const storage = await sqliteStorage("lights.db");
 * const engine = createEngine({ storage, workflows: [] });
 * console.log(await engine.read("kitchen")); // null
 * await storage.close();
 * ```
 */
export async function sqliteStorage(
  database: string | SqliteDatabase | NodeSqliteDatabase,
  { elapsed = sinceProcessStart, create = true }: SqliteOptions = {},
): Promise<EngineStorage> {
  const { handle, file } =
    typeof database === "string"
      ? await openDatabase(database, { create })
      : { handle: usableHandle(database), file: null };
  const close = (): void => {
    if (typeof database === "string") handle.close();
  };
  try {
    await prepareDatabase(handle, { create });
    const guard = file === null ? null : new FileGuard(file, elapsed);
    const connection = new Connection(handle, guard);
    await assertWritable(connection);
    return storageOn({ connection, handle, elapsed, close });
  } catch (error) {
    close();
    throw error;
  }
}

/** Writes something, and takes it back in the same transaction: a disk that is full, or refuses, is told before any work begins. */
function assertWritable(connection: Connection): Promise<void> {
  return connection.write(() => {
    connection.change(
      `insert or replace into "paystateLeases" (name, holder, until, ms) values ('opening', '', 0, 0)`,
    );
    connection.change(`delete from "paystateLeases" where name = 'opening'`);
  });
}

/**
 * Opens a database file for reading alone, such as a copy to be looked at after an incident: the file and its folder stay
 * as they are. While no process uses it, a private copy of it in the system's folder for temporary files is read, which
 * `close` removes. A writing call rejects with `StorageUnusable`, code `unwritable`; `install` does so for a table that is
 * not there as described.
 *
 * @throws StorageUnusable for a file that is absent, not paystate's, of an older or newer schema, locked or cut off.
 *
 * @example
 * ```ts
 * import { createEngine } from "paystate/engine";
 * import { readOnlySqlite, sqliteStorage } from "paystate/storage/sqlite";
 *
 * await (await sqliteStorage("incident.db")).close();
 * const storage = await readOnlySqlite("incident.db");
 * console.log(await createEngine({ storage, workflows: [] }).read("kitchen")); // null
 * await storage.close();
 * ```
 */
export async function readOnlySqlite(path: string): Promise<EngineStorage> {
  const { handle, close } = await openReadOnly(path);
  return storageOn({ connection: new Connection(handle), handle, elapsed: sinceProcessStart, close });
}

interface StorageParts {
  readonly connection: Connection;
  readonly handle: SqliteDatabase;
  readonly elapsed: () => number;
  readonly close: () => void | Promise<void>;
}

function storageOn({ connection, handle, elapsed, close }: StorageParts): EngineStorage {
  const read: StatementReader = (statement, values) =>
    connection.read(() => connection.all(statement, values));
  const tables = new GivenTables(databaseDialect(connection, read));
  const target = new CommitTarget(connection, tables);
  const { tasks } = target;
  return {
    install: (wanted) => tables.install(wanted),
    find: (query) => tables.find(query),
    tally: (query) => tables.tally(query),
    commit: (items) => committed({ target, elapsed }, items),
    within: hostCommits(handle, tables),
    // Writes nothing, and does not ask for the write lock, while nothing is due.
    claim: async (request) =>
      (await connection.read(() => tasks.isDue(request)))
        ? connection.writeUnsynced(() => tasks.claim(request))
        : [],
    heartbeat: async (request) =>
      request.tasks.length === 0
        ? { lost: [], unseen: [] }
        : connection.writeUnsynced(() => tasks.heartbeat(request)),
    release: (request) => connection.write(() => tasks.release(request)),
    nextDue: (...asked) => connection.read(() => tasks.nextDue(...asked)),
    ...instanceReads(read, usedBytes),
    lease: (request) => leased(connection, tasks, request),
    // Where a task of an instance waits takes further reads.
    tasks: (listing) =>
      connection[listing.order === "instance" ? "snapshot" : "read"](() => tasks.list(listing)),
    onWake: () => () => {},
    close: async () => close(),
  };
}
