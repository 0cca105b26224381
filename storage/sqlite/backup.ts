/** Copies a database file while services work on it: a complete snapshot of one moment in a separate file. */
import { closeSync, existsSync, fsyncSync, openSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { StorageUnusable } from "../storage-unusable.ts";
import { inTurn } from "./connection.ts";
import type { BackupPages, SqliteDatabase } from "./handle.ts";
import { during } from "./existing.ts";
import { codeOf, explained } from "./explain.ts";
import { nameFile } from "./name-file.ts";
import { hasSchema } from "./schema.ts";

/** The content of a copy. */
export interface SqliteBackup {
  /** The absolute path of the copy. */
  readonly file: string;
  readonly bytes: number;
}

/** How far a backup has come: copied pages first, then the check of the copy, which tells nothing before its end. */
export interface SqliteBackupProgress {
  readonly copiedPages: number;
  readonly pages: number;
}

/** Options of a backup. */
export interface SqliteBackupOptions {
  /** Called after each turn of copying. */
  readonly onProgress?: (progress: SqliteBackupProgress) => void;
}

/** A turn copies a mebibyte, where pages have the size that SQLite gives them. */
const PAGES_A_TURN = 256;
/** Between two turns services have the disk to themselves. */
const PAUSE_MS = 5;
/** The copy is flushed little by little: all at once would keep the commits of services waiting. */
const TURNS_A_SYNC = 8;

/**
 * Copies the SQLite database `source` to `target`, also while services work on it: the copy holds exactly the commits
 * up to one moment. The copy is written under a temporary name, opened, checked page by page and made durable, and only
 * then named `target` (mode 0600). A copy that fails leaves nothing behind.
 *
 * Copying pauses between pages, so running services are not slowed down. It takes a second for some 100 MB. The check at its end blocks this
 * process: run a backup in a separate process, as `paystate backup` does. The copy is as large as the database, its free
 * pages included. Files copied by hand lack the commits in the `-wal` file beside them.
 *
 * @throws StorageUnusable when the source cannot be read or is none of paystate's; when the copy turns out damaged; and
 * `target_exists` when there is something at `target`, which is never overwritten.
 *
 * @example
 * ```ts
 * import { backupSqlite, sqliteStorage } from "paystate/storage/sqlite";
 *
 * const storage = await sqliteStorage("busy.db");
 * const { file } = await backupSqlite("busy.db", "copy.db");
 * console.log(file.endsWith("copy.db")); // true
 * await storage.close();
 * ```
 */
export async function backupSqlite(
  source: string,
  target: string,
  { onProgress }: SqliteBackupOptions = {},
): Promise<SqliteBackup> {
  const file = resolve(target);
  const partial = `${file}.partial`;
  const own = createPartial(file, partial);
  try {
    await copy(source, partial, paced(own, onProgress));
    await foldLog(partial);
    const bytes = await verify(partial);
    fsyncSync(own);
    nameFile(partial, file);
    return { file, bytes };
  } catch (error) {
    // Somebody has taken the name meanwhile.
    throw codeOf(error) === "EEXIST" ? targetExists(file) : explained(error, file);
  } finally {
    closeSync(own);
    for (const ending of ["", "-journal", "-wal", "-shm"]) rmSync(`${partial}${ending}`, { force: true });
  }
}

/** The work between two turns of copying into this file. */
function paced(file: number, onProgress: SqliteBackupOptions["onProgress"]): (pages: BackupPages) => number {
  let turns = 0;
  const pause = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return ({ totalPages: pages, remainingPages }) => {
    turns += 1;
    if (turns % TURNS_A_SYNC === 0) fsyncSync(file);
    onProgress?.({ copiedPages: pages - remainingPages, pages });
    Atomics.wait(pause, 0, 0, PAUSE_MS);
    return PAGES_A_TURN;
  };
}

/** Another backup to the same name, or one that was killed, is in the way: the person decides which it is. */
function createPartial(file: string, partial: string): number {
  if (existsSync(file)) throw targetExists(file);
  try {
    return openSync(partial, "wx+", 0o600);
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? targetExists(partial) : explained(error, file);
  }
}

function targetExists(file: string): StorageUnusable {
  return new StorageUnusable(
    "target_exists",
    `${file} exists and is not overwritten: name another file, or remove it`,
  );
}

/**
 * Within one transaction, which sees one moment: outside of one SQLite begins a copy again whenever another process
 * writes.
 */
const copy = (source: string, partial: string, progress: (pages: BackupPages) => number): Promise<void> =>
  during(source, { readonly: true }, async (database) => {
    await mustBeOurs(database);
    database.prepare("begin").run();
    await inTurn(() => database.prepare("select count(*) from sqlite_master").get());
    await database.backup(partial, { rate: PAGES_A_TURN, progress });
  });

/** The copy says of itself that it has a log beside it, as its source has. */
const foldLog = (partial: string): Promise<unknown> =>
  during(partial, {}, (copied) => copied.pragma("journal_mode = delete"));

/** Reads every page of the copy. Answers its length in bytes. */
const verify = (partial: string): Promise<number> =>
  during(partial, { readonly: true }, async (copied) => {
    await mustBeOurs(copied);
    const [found] = copied.pragma("integrity_check") as readonly { readonly integrity_check: string }[];
    if (found?.integrity_check !== "ok") {
      throw new StorageUnusable(
        "damaged",
        `the copy is damaged (${found?.integrity_check ?? "no answer"}): is the disk sound?`,
      );
    }
    const { bytes } = copied
      .prepare("select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()")
      .get() as { readonly bytes: number };
    return bytes;
  });

/** A database without our tables would be copied as well, and help nobody when it is needed. */
async function mustBeOurs(database: SqliteDatabase): Promise<void> {
  if (await inTurn(() => hasSchema(database))) return;
  throw new StorageUnusable(
    "foreign_database",
    "the file holds no tables of paystate's: name the database of a service",
  );
}
