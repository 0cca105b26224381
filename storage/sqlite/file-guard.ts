/**
 * Notices that the file of an open database was deleted or replaced: SQLite goes on with what it has open, and all that it
 * commits is gone with the process. Only the names are looked at: to open and close the file would drop SQLite's locks.
 */
import { statSync } from "node:fs";
import { StorageUnusable } from "../storage-unusable.ts";
import type { SqliteDatabase } from "./driver.ts";
import { explained } from "./explain.ts";

/** The open file, and the way to look at what lies under its name. */
export interface GuardedFile {
  readonly path: string;
  readonly handle: SqliteDatabase;
  /** Opens what has the name now, for reading. Throws where nothing has it. */
  readonly reopen: () => SqliteDatabase;
}

/** Reads look again after so many milliseconds; each write looks. */
const EVERY_MS = 1_000;

/** Tells one file from another; null where there is none. */
type IdentityOf = (path: string) => string | null;

const onDisk: IdentityOf = (path) => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
};

export class FileGuard {
  readonly #file: GuardedFile;
  readonly #elapsed: () => number;
  readonly #identityOf: IdentityOf;
  #identity: string;
  #lookedAt: number;
  #replaced: StorageUnusable | null = null;

  constructor(file: GuardedFile, elapsed: () => number, identityOf: IdentityOf = onDisk) {
    this.#file = file;
    this.#elapsed = elapsed;
    this.#identityOf = identityOf;
    this.#identity = this.#read();
    this.#lookedAt = elapsed();
  }

  /**
   * Before a transaction. Once the file is another, nothing is read or written any more.
   * @throws StorageUnusable `replaced`.
   */
  check(isWrite: boolean): void {
    if (this.#replaced !== null) throw this.#replaced;
    const now = this.#elapsed();
    if (!isWrite && now - this.#lookedAt < EVERY_MS) return;
    const identity = this.#read();
    // Some mounts number their files anew.
    if (identity !== this.#identity && !this.#isSame()) {
      this.#replaced = new StorageUnusable(
        "replaced",
        `the database file ${this.#file.path} was deleted or replaced while it was in use: stop every process, ` +
          "put the file back with its -wal, or restore a backup and run `paystate reconcile`",
      );
      throw this.#replaced;
    }
    this.#identity = identity;
    this.#lookedAt = now;
  }

  /** The file and its log: where one of the two is another, what is committed is not found again. */
  #read(): string {
    const { path } = this.#file;
    return `${this.#identityOf(path)}, ${this.#identityOf(`${path}-wal`)}`;
  }

  /**
   * Whether what is written here is found under the name: at first in the log, then in the file itself, since the one may lie
   * beside another file by now, and the file beside another log.
   */
  #isSame(): boolean {
    const { handle } = this.#file;
    const mark = handle.prepare("select lower(hex(randomblob(8))) as mark").get() as {
      readonly mark: string;
    };
    const name = `file/${mark.mark}`;
    handle.prepare(`insert into "paystateLeases" (name, holder, until, ms) values (?, '', 0, 0)`).run(name);
    try {
      if (!this.#isThere(name)) return false;
      const [row] = handle.pragma("wal_checkpoint(TRUNCATE)") as readonly { readonly busy: number }[];
      if (row?.busy !== 0) {
        throw new StorageUnusable(
          "busy",
          "the database file may have been replaced, and others still read it",
        );
      }
      return this.#isThere(name);
    } finally {
      handle.prepare(`delete from "paystateLeases" where name = ?`).run(name);
    }
  }

  #isThere(name: string): boolean {
    let there: SqliteDatabase;
    try {
      there = this.#file.reopen();
    } catch {
      return false;
    }
    try {
      return there.prepare(`select 1 from "paystateLeases" where name = ?`).get(name) !== undefined;
    } catch (error) {
      if ((explained(error) as Partial<StorageUnusable>).code === "busy") throw error;
      return false;
    } finally {
      there.close();
    }
  }
}
