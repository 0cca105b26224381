/** Opens a database file, or takes an open one, and makes the schema where there is none. */
import { closeSync, existsSync, openSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { StorageUnusable } from "../storage-unusable.ts";
import { Connection, inTurn } from "./connection.ts";
import { loadDriver } from "./driver.ts";
import type { SqliteDatabase } from "./handle.ts";
import { nothingOfOurs } from "./existing.ts";
import { codeOf, explained, takenName } from "./explain.ts";
import type { GuardedFile } from "./file-guard.ts";
import { refuseHiding } from "./hiding.ts";
import { refuseMoved } from "./moved.ts";
import { hasSchema, makeSchema } from "./schema.ts";

/** Opens a path, where `:memory:` is one too, which has no file. With `create` false no file is made. */
export async function openDatabase(
  path: string,
  { create = true } = {},
): Promise<{ readonly handle: SqliteDatabase; readonly file: GuardedFile | null }> {
  if (/^[a-z]+:\/\//i.test(path)) {
    // Not shown: it may hold a password.
    throw new StorageUnusable(
      "not_a_database",
      "this is a URL and SQLite takes the path of a file: for PostgreSQL take postgresStorage of paystate/storage/postgres",
    );
  }
  try {
    const driver = await loadDriver();
    if (path === ":memory:") return { handle: driver.open(path, {}), file: null };
    if (create) createPrivately(path);
    else if (!existsSync(path)) throw new StorageUnusable("cannot_open", `there is no file ${path}`);
    const place = resolve(path);
    const handle = driver.open(place, { fileMustExist: true });
    const reopen = (): SqliteDatabase => driver.open(place, { readonly: true, fileMustExist: true });
    return { handle, file: { path: place, log: `${realpathSync(place)}-wal`, handle, reopen } };
  } catch (error) {
    throw explained(error, path);
  }
}

/** Only its owner may read a new database: it holds sealed secrets and everyone's payments. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/**
 * Sets the connection up and makes the schema. Two processes may do so at once: one makes it, the second waits for the lock and
 * finds nothing to do. Tables of a host may stand beside.
 * @throws StorageUnusable `moved` when its data went to another database, `foreign_database` when a name is taken by
 * something of the host, be it a temporary table of its connection, or with `create` false when nothing of paystate's is there.
 */
export async function prepareDatabase(
  database: SqliteDatabase,
  { create }: { readonly create: boolean },
): Promise<void> {
  // Looked at before anything is changed: a database that we cannot use, or has moved, keeps the mode of its journal.
  const isThere = await inTurn(() => {
    database.pragma("busy_timeout = 0");
    database.pragma("synchronous = FULL");
    refuseHiding(new Connection(database), "foreign_database");
    const found = hasSchema(database);
    refuseMoved(database);
    return found;
  });
  if (!isThere) {
    if (!create) throw nothingOfOurs();
    // Names that a host has taken show before its file is changed.
    if (await inTurn(() => hasTables(database))) await bringUp(database, "rollback");
  }
  await inTurn(() => {
    // It throws within a transaction of the host, in which the mode may stay as it is without a word.
    database.pragma("synchronous = FULL");
    database.pragma("journal_mode = WAL");
  });
  // A move may have begun meanwhile. In this mode none can while the file is open.
  await inTurn(() => refuseMoved(database));
  if (!isThere) await bringUp(database, "commit");
}

const hasTables = (database: SqliteDatabase): boolean =>
  database.prepare("select 1 from sqlite_master limit 1").get() !== undefined;

const bringUp = (database: SqliteDatabase, end: "commit" | "rollback"): Promise<void> =>
  inTurn(() => {
    database.prepare("begin immediate").run();
    try {
      if (!hasSchema(database)) makeSchema(database);
      database.prepare(end).run();
    } catch (error) {
      if (database.inTransaction) database.prepare("rollback").run();
      throw takenName(error, "foreign_database");
    }
  });
