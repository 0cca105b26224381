/**
 * Checks that a database file opens, is paystate's, has the schema of this code, and is undamaged. Only reads the file.
 */
import { openReadOnly } from "../../../storage/sqlite/open-read-only.ts";
import type { SqliteDatabase } from "../../../storage/sqlite/handle.ts";
import { readPages, readSamples } from "../../../storage/sqlite/read-samples.ts";
import { StorageUnusable, type StorageUnusableCode } from "../../../storage/storage-unusable.ts";
import { fine, warning, wrong, type DiagnosisFinding } from "../../service/diagnosis/finding.ts";

const SCHEMA_CODES: ReadonlySet<StorageUnusableCode> = new Set(["newer_schema", "old_schema"]);

/** One finding when the database does not open, else one for each check. */
export async function checkDatabase(
  file: string,
  checkIntegrity: (handle: SqliteDatabase) => DiagnosisFinding,
): Promise<readonly DiagnosisFinding[]> {
  try {
    const { handle, close } = await openReadOnly(file);
    try {
      return [
        fine("database", `${file} opens and is paystate's`),
        fine("schema", "is one that this version works with"),
        checkIntegrity(handle),
        checkLog(handle),
      ];
    } finally {
      await close();
    }
  } catch (error) {
    if (!(error instanceof StorageUnusable)) throw error;
    const { code, message } = error;
    if (SCHEMA_CODES.has(code)) {
      const opened = fine("database", `${file} opens and is paystate's`);
      return [opened, wrong("schema", { found: "is not that of this version", todo: message })];
    }
    return [wrong("database", { found: `${file} cannot be used`, todo: message })];
  }
}

/** The service sets the mode at each start, so a different mode was set by another program. */
function checkLog(handle: SqliteDatabase): DiagnosisFinding {
  const [row] = handle.pragma("journal_mode") as readonly { readonly journal_mode: string }[];
  const mode = row?.journal_mode ?? "unknown";
  if (mode === "wal") return fine("write-ahead log", "is on");
  return warning("write-ahead log", {
    found: `the journal mode is ${mode}`,
    todo: "start the service: it turns the write-ahead log on; if it stays off, is the disk a network share?",
  });
}

/** A damaged page is met here or not: `checkPages` meets each. */
export function checkSamples(handle: SqliteDatabase): DiagnosisFinding {
  return unlessDamaged(
    () => `${readSamples(handle)} rows from all over and their indexes can be read; --full reads each page`,
  );
}

export function checkPages(
  handle: SqliteDatabase,
  onTable: (done: number, tables: number) => void,
): DiagnosisFinding {
  return unlessDamaged(() => {
    readPages(handle, onTable);
    return "SQLite's quick check finds nothing";
  });
}

/** SQLite itself refuses to read on from a page that makes no sense. */
function unlessDamaged(look: () => string): DiagnosisFinding {
  try {
    return fine("integrity", look());
  } catch (error) {
    return wrong("integrity", {
      found: `the file is damaged: ${(error as Error).message}`,
      todo: "stop the service, keep the file, restore a backup, then run `paystate operator reconcile`",
    });
  }
}
