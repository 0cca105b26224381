/**
 * Notices that the file of an open database was deleted, replaced or cut short: SQLite would go on with the open file,
 * and all commits would be lost with the process. Only names are checked: opening and closing the file would drop
 * SQLite's locks.
 */
import { statSync } from "node:fs";
import { StorageUnusable } from "../storage-unusable.ts";
import type { SqliteDatabase } from "./handle.ts";
import { isBusy, isDamage } from "./explain.ts";

/** The open file, and the way to look at what lies under its name. */
export interface GuardedFile {
  readonly path: string;
  /** SQLite keeps it beside the file itself, also where the path is a symbolic link. */
  readonly log: string;
  readonly handle: SqliteDatabase;
  /** Opens what has the name now, for reading. Throws where nothing has it. */
  readonly reopen: () => SqliteDatabase;
}

/** Pause between two looks: a look before each transaction would cost a tenth of a commit. */
const EVERY_MS = 100;

/** Identity and size of a file. */
interface Seen {
  readonly id: string;
  readonly size: number;
}

/** Null when the file does not exist. */
type SeenAt = (path: string) => Seen | null;

const onDisk: SeenAt = (path) => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : { id: `${found.dev} ${found.ino}`, size: Number(found.size) };
};

/** The file and its log: once one of the two was replaced, later commits are lost. */
interface Pair {
  readonly file: Seen | null;
  readonly log: Seen | null;
}

const areSame = (one: Pair, other: Pair): boolean =>
  one.file?.id === other.file?.id && one.log?.id === other.log?.id;

/** SQLite removes the log beside an empty file when it opens that: it is not opened. */
const isEmpty = ({ file }: Pair): boolean => (file?.size ?? 0) === 0;

const isShorter = (now: Seen | null, before: Seen | null): boolean => (now?.size ?? 0) < (before?.size ?? 0);

export class FileGuard {
  readonly #file: GuardedFile;
  readonly #elapsed: () => number;
  readonly #seenAt: SeenAt;
  #seen: Pair;
  #lookedAt: number;
  #replaced: StorageUnusable | null = null;

  constructor(file: GuardedFile, elapsed: () => number, seenAt: SeenAt = onDisk) {
    this.#file = file;
    this.#elapsed = elapsed;
    this.#seenAt = seenAt;
    this.#seen = this.#look();
    this.#lookedAt = elapsed();
  }

  /**
   * Before a transaction. Once the file is another, nothing is read or written any more.
   * @throws StorageUnusable `replaced`.
   */
  check(): void {
    if (this.#replaced !== null) throw this.#replaced;
    const now = this.#elapsed();
    if (now - this.#lookedAt < EVERY_MS) return;
    const seen = this.#look();
    // Some mounts number their files anew, and other programs make the file and its log smaller.
    if (isEmpty(seen) || !(areSame(seen, this.#seen) || this.#isSame()) || !this.#isWhole(seen)) {
      this.#replaced = new StorageUnusable(
        "replaced",
        `the database file ${this.#file.path} was deleted, replaced or cut short while it was in use: stop every process, ` +
          "put the file back with its -wal, or restore a backup and run `paystate operator reconcile`",
      );
      throw this.#replaced;
    }
    this.#seen = seen;
    this.#lookedAt = now;
  }

  #look(): Pair {
    const { path, log } = this.#file;
    return { file: this.#seenAt(path), log: this.#seenAt(log) };
  }

  /**
   * Whether a shorter file is still complete: a checkpoint by another program makes the log smaller, and a VACUUM the
   * file. A fresh reader, who has no pages in memory, notices pages that were cut off or overwritten by a shorter copy.
   */
  #isWhole({ file, log }: Pair): boolean {
    const { handle, reopen } = this.#file;
    try {
      if (isShorter(file, this.#seen.file)) {
        const there = reopen();
        try {
          const [found] = there.pragma("quick_check(1)") as readonly { readonly quick_check: string }[];
          if (found?.quick_check !== "ok") return false;
        } finally {
          there.close();
        }
      }
      if (isShorter(log, this.#seen.log)) handle.pragma("wal_checkpoint(PASSIVE)");
      return true;
    } catch (error) {
      // A full disk, say, or a lock tells nothing of what is there.
      if (!isDamage(error)) throw error;
      return false;
    }
  }

  /**
   * Whether what is written here is found under the name: at first in the log, then in the file itself: the log may lie
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
      if (isBusy(error)) throw error;
      return false;
    } finally {
      there.close();
    }
  }
}
