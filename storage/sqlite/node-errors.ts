/** Errors of `node:sqlite`, which has numbers where better-sqlite3 has names: all else here knows the names. */

/** Names of result codes, each at the place of its number. */
const NAMES =
  "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL " +
  "EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB NOTICE WARNING";

/** Names of extended codes behind that of their result code, from 1 on. */
const EXTENDED: Readonly<Record<string, string>> = {
  ERROR: "MISSING_COLLSEQ RETRY SNAPSHOT",
  ABORT: "- ROLLBACK",
  BUSY: "RECOVERY SNAPSHOT TIMEOUT",
  LOCKED: "SHAREDCACHE VTAB",
  READONLY: "RECOVERY CANTLOCK ROLLBACK DBMOVED CANTINIT DIRECTORY",
  IOERR:
    "READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS CHECKRESERVEDLOCK " +
    "LOCK CLOSE DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP GETTEMPPATH CONVPATH VNODE AUTH " +
    "BEGIN_ATOMIC COMMIT_ATOMIC ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE",
  CORRUPT: "VTAB SEQUENCE INDEX",
  CANTOPEN: "NOTEMPDIR ISDIR FULLPATH CONVPATH DIRTYWAL SYMLINK",
  CONSTRAINT:
    "CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE",
  AUTH: "USER",
};

/** The low byte of an extended code is its result code. */
const BYTE = 256;

/** The name of an extended result code, such as SQLITE_CONSTRAINT_UNIQUE of 2067. */
function nameOfCode(code: number): string {
  const name = NAMES.split(" ")[code % BYTE];
  if (name === undefined) return `UNKNOWN_SQLITE_ERROR_${code}`;
  const more = EXTENDED[name]?.split(" ")[Math.floor(code / BYTE) - 1];
  return more === undefined ? `SQLITE_${name}` : `SQLITE_${name}_${more}`;
}

/** Errors of a handle, or of its statements, after its `close`. */
const IS_CLOSED = /^(database is not open|statement has been finalized)$/;

/** The same error, with the code that better-sqlite3 gives it; or its own error for a closed handle. */
function named(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (IS_CLOSED.test(error.message)) {
    return new TypeError("The database connection is not open", { cause: error });
  }
  return "errcode" in error && typeof error.errcode === "number"
    ? Object.assign(error, { code: nameOfCode(error.errcode) })
    : error;
}

/** The answers of `act`. Its errors have their names. */
export function withNames<A>(act: () => A): A {
  try {
    return act();
  } catch (error) {
    throw named(error);
  }
}

/** The results of `act`. Its errors have their names. */
export async function withNamesLater<A>(act: () => Promise<A>): Promise<A> {
  try {
    return await act();
  } catch (error) {
    throw named(error);
  }
}
