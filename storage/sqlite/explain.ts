/** Explains errors of SQLite and the file system, in sentences that tell what to do. */
import { CLOSED, type Explanation, StorageUnusable } from "../storage-unusable.ts";

/** The code of an error of SQLite, of Node or of the file system. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** The words of SQLite for a transaction on the connection itself. Only the host of an open `Database` leaves one open. */
const WITHIN_HOST =
  /^(cannot start a transaction within a transaction|Safety level may not be changed inside a transaction)$/;

/** Whether a different connection holds the lock: a retry is enough. */
export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error));

/** Whether it is another's turn: a connection that holds the lock, or the host, whose transaction is open on this one. */
export const isAnothersTurn = (error: unknown): boolean =>
  isBusy(error) || (error instanceof Error && WITHIN_HOST.test(error.message));

/** Whether written data are missing, or were replaced. */
export const isDamage = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(codeOf(error));

/** Whether a unique field is taken. */
export const isTaken = (error: unknown): boolean =>
  /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(codeOf(error));

/** Whether a failed COMMIT may turn out as done for the next process: its pages may have reached the disk. */
export const isUncertain = (error: unknown): boolean => /^SQLITE_(IOERR|NOMEM)/.test(codeOf(error));

const explanations: readonly Explanation[] = [
  {
    of: /^SQLITE_(BUSY|LOCKED)/,
    code: "busy",
    sentence: "another process kept the database locked for 5 seconds: find it and end it",
  },
  {
    of: WITHIN_HOST,
    code: "busy",
    sentence:
      "a transaction of yours stayed open on this connection for 5 seconds: end it before you await anything else, or open " +
      "the storage by its path, so that it has a connection of its own",
  },
  {
    of: /^SQLITE_(READONLY|PERM)|^(EACCES|EPERM|EROFS)$/,
    code: "unwritable",
    sentence: "the database cannot be written: paystate's user needs to write the file and its folder",
  },
  {
    of: /^SQLITE_IOERR|^EIO$/,
    code: "unwritable",
    sentence: "the disk answered with an error: see what the system says of it, and of its mount",
  },
  {
    of: /^(ENOENT|ENOTDIR)$/,
    code: "folder_missing",
    sentence: "the database's folder does not exist: create it first",
  },
  {
    of: /^SQLITE_CANTOPEN/,
    code: "cannot_open",
    sentence: "the database must be a plain file in a folder that paystate's user may write to",
  },
  {
    of: /^SQLITE_NOTADB$/,
    code: "not_a_database",
    sentence: "this is no SQLite database: give paystate a path of its own",
  },
  {
    of: /^SQLITE_CORRUPT/,
    code: "damaged",
    sentence: "the database is damaged: restore a backup, then run `paystate operator reconcile`",
  },
  {
    of: /^SQLITE_FULL$|^ENOSPC$/,
    code: "disk_full",
    sentence: "the disk is full: make room, and what was committed is still there",
  },
  {
    // The name in a trigger or view of a host would be `main.` and the name.
    of: /^no such table: [^.]+$/,
    code: "replaced",
    sentence:
      "a table of paystate's was dropped, or a backup written into the file, while it was in use: stop every process, " +
      "restore a backup if a table was dropped, and run `paystate operator reconcile`",
  },
  {
    of: /^ERR_DLOPEN_FAILED$|NODE_MODULE_VERSION|Could not locate the bindings file/,
    code: "driver_unusable",
    sentence: "better-sqlite3 was built for another Node or not at all: `npm rebuild better-sqlite3`",
  },
  {
    of: /^The database connection is not open$/,
    code: "unavailable",
    sentence: CLOSED,
  },
];

/**
 * The error itself, or a refusal where something of somebody else's has a name that paystate needs, or keeps SQLite from
 * changing a table. The code says whether the tables are the engine's or further ones.
 */
export function takenName(error: unknown, code: "foreign_database" | "other_table"): unknown {
  const symptom = error instanceof Error ? error.message : "";
  const sentence = ofTaken(symptom) ?? ofUnresolved(symptom);
  return sentence === null ? error : new StorageUnusable(code, sentence, { cause: error });
}

function ofTaken(symptom: string): string | null {
  const [, by, named, under] =
    /^(?:(\w+ .+) already exists|there is already an? (\w+) named (.+))$/.exec(symptom) ?? [];
  const thing = by ?? (named === undefined ? undefined : `${named} ${under}`);
  return thing === undefined
    ? null
    : `this file has the ${thing}, which is not paystate's and has a name that paystate needs: rename it, or give paystate a file of its own`;
}

/** SQLite drops a column only where it can resolve each view, trigger and index of the file. */
function ofUnresolved(symptom: string): string | null {
  const [, thing, why] =
    /^error in ((?:view|trigger|index|table) .+?)(?: after [a-z ]+)?: (.+)$/.exec(symptom) ?? [];
  return thing === undefined
    ? null
    : `SQLite changes no table while this file has the ${thing}, which is not paystate's and cannot be resolved (${why}): ` +
        "mend it, or drop it and make it anew afterwards";
}

/** The error itself, or the sentence for it with the error as its cause. */
export function explained(error: unknown, path?: string): unknown {
  const code = codeOf(error);
  // Where the driver's binary is at fault there is only a message, and SQLite's own code says nothing of a statement.
  const symptom = /^(SQLITE_ERROR)?$/.test(code) && error instanceof Error ? error.message : code;
  const found = explanations.find(({ of }) => of.test(symptom));
  if (found === undefined) return error;
  const message = path === undefined ? found.sentence : `${found.sentence} (${path})`;
  return new StorageUnusable(found.code, message, { cause: error });
}
