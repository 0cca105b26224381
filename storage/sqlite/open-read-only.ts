/** Opens a database file for reading alone: nothing beside it is created, and nothing in it is changed. */
import { constants, existsSync, type Stats } from "node:fs";
import { chmod, copyFile, mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StorageUnusable } from "../storage-unusable.ts";
import type { SqliteDatabase } from "./handle.ts";
import { assertOurs, openExisting } from "./existing.ts";
import { explained } from "./explain.ts";

/** @throws StorageUnusable with a sentence for a file that is absent, foreign, older, newer, locked, cut off or damaged. */
export async function openReadOnly(
  path: string,
): Promise<{ readonly handle: SqliteDatabase; readonly close: () => Promise<void> }> {
  try {
    const found = await stat(path).catch(() => null);
    if (found?.isFile() !== true) throw new StorageUnusable("cannot_open", "there is no such file");
    const place = await placeOf(path, found);
    try {
      const handle = await opened(place.file);
      const close = async (): Promise<void> => {
        handle.close();
        await place.leave();
      };
      return { handle, close };
    } catch (error) {
      await place.leave();
      throw error;
    }
  } catch (error) {
    throw explained(error, path);
  }
}

/** A file that can be opened without a trace, and what is to be done afterwards. */
interface Place {
  readonly file: string;
  readonly leave: () => Promise<void>;
}

/**
 * SQLite makes two files beside a database in WAL mode, also for a reader. If the files exist already, because a
 * process uses the database or was killed, the database is read in place. Otherwise a private copy is read.
 */
async function placeOf(path: string, found: Stats): Promise<Place> {
  const isInUse = (): boolean => existsSync(`${path}-wal`) && existsSync(`${path}-shm`);
  if (isInUse()) return { file: path, leave: async () => {} };
  // With a log beside it, the file alone may be shorter than the database.
  if (!existsSync(`${path}-wal`)) await refuseCutOff(path, found.size);
  const folder = await mkdtemp(join(tmpdir(), "paystate-read-"));
  const leave = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const file = join(folder, "copy.db");
  try {
    for (const ending of ["", "-wal"]) {
      if (!existsSync(`${path}${ending}`)) continue;
      await copyFile(`${path}${ending}`, `${file}${ending}`, constants.COPYFILE_FICLONE);
      await chmod(`${file}${ending}`, 0o600);
    }
  } catch (error) {
    await leave();
    throw error;
  }
  // A process that has begun meanwhile may have changed the file under the copy.
  if (!isInUse()) return { file, leave };
  await leave();
  return { file: path, leave: async () => {} };
}

const HEADER_BYTES = 100;
const MAX_PAGE_BYTES = 65_536;

/** SQLite notices a missing end only when it happens to read there. */
async function refuseCutOff(path: string, size: number): Promise<void> {
  if (size === 0) throw new StorageUnusable("not_a_database", "the file is empty");
  const header = Buffer.alloc(HEADER_BYTES);
  const file = await open(path, "r");
  try {
    await file.read(header, 0, HEADER_BYTES, 0);
  } finally {
    await file.close();
  }
  if (!header.subarray(0, 15).equals(Buffer.from("SQLite format 3"))) {
    throw new StorageUnusable("not_a_database", "this is no SQLite database");
  }
  const written = header.readUInt16BE(16);
  const pageBytes = written === 1 ? MAX_PAGE_BYTES : written;
  const pages = header.readUInt32BE(28);
  if (size < pages * pageBytes) {
    throw new StorageUnusable(
      "damaged",
      `the file is cut off: it has ${size} of ${pages * pageBytes} bytes; copy it again, with its -wal file if there is one`,
    );
  }
}

async function opened(file: string): Promise<SqliteDatabase> {
  const handle = await openExisting(file, { readonly: true });
  try {
    await assertOurs(handle);
    return handle;
  } catch (error) {
    handle.close();
    throw error;
  }
}
