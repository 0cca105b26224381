/**
 * Why a storage could not be opened or used. While it is used: `unavailable`, it cannot be reached, or takes no writes
 * for now, as a server that fails over; `replica`, it follows another server, and the commit waited for a promotion;
 * `busy`, a lock, a connection or a statement was waited for too long; `disk_full`; `unwritable`, the disk or the file
 * refuses; `replaced`, the file was deleted or replaced in use; `damaged`; `no_rights`.
 */
export type StorageUnusableCode =
  | "driver_missing"
  | "driver_unusable"
  | "folder_missing"
  | "cannot_open"
  | "access_denied"
  | "no_rights"
  | "server_too_old"
  | "wrong_encoding"
  | "unavailable"
  | "replica"
  | "unwritable"
  | "not_a_database"
  | "damaged"
  | "replaced"
  | "foreign_database"
  | "newer_schema"
  | "old_schema"
  | "other_table"
  | "disk_full"
  | "target_exists"
  | "in_use"
  | "moved"
  | "copy_differs"
  | "busy";

/**
 * The storage itself fails, not a commit: `code` is for programs, the message for the person who can mend it.
 *
 * @example
 * ```ts
 * import { sqliteStorage, StorageUnusable } from "paystate/storage/sqlite";
 *
 * try {
 *   await sqliteStorage("no/such/folder/payments.db");
 * } catch (error) {
 *   if (error instanceof StorageUnusable) console.log(error.code); // folder_missing
 * }
 * ```
 */
export class StorageUnusable extends Error {
  override readonly name = "StorageUnusable";
  readonly code: StorageUnusableCode;

  constructor(code: StorageUnusableCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** For what is asked of a storage behind its `close`. */
export const CLOSED = "this storage was closed: stop what works on it first, and wait for the stop";

/** The code and sentence for errors whose own code, or message, matches. */
export interface Explanation {
  readonly of: RegExp;
  readonly code: StorageUnusableCode;
  readonly sentence: string;
}
