/** The mark of a file whose data went to another database: with it, no program works on the file any more. */
import { StorageUnusable } from "../storage-unusable.ts";
import type { SqliteDatabase } from "./handle.ts";

/** The mark that a move leaves in its source and in its target. */
export interface MoveRecord {
  /** The name of the copy, the same in source and target. */
  readonly copy: string;
  /** The place of the copy, without a password. */
  readonly place: string;
  /**
   * `moving`: the copy was about to be committed at the target; the outcome is not known here. `moved`: the copy was
   * committed. `arrived`: this database is the copy.
   */
  readonly state: "moving" | "moved" | "arrived";
}

/** The table of marks. It is made by the move itself: a database that was never moved has none. */
export const MOVES = "paystateMoves";
export const MOVES_COLUMNS = `id integer primary key, "copy" text not null, place text not null, state text not null`;

/** The mark of a file, or null. */
export function moveMarkOf(database: SqliteDatabase): MoveRecord | null {
  const found = database.prepare(`select 1 from sqlite_master where name = '${MOVES}'`).get();
  if (found === undefined) return null;
  const rows = database.prepare(`select "copy", place, state from "${MOVES}" where id = 1`).all();
  return (rows[0] as MoveRecord | undefined) ?? null;
}

/** @throws StorageUnusable `moved` when the data of this file is elsewhere, or may be. */
export function refuseMoved(database: SqliteDatabase): void {
  const mark = moveMarkOf(database);
  if (mark?.state === "moved") {
    throw new StorageUnusable(
      "moved",
      `this database was moved to ${mark.place}: use that one, and keep this file away from every service`,
    );
  }
  if (mark?.state === "moving") {
    throw new StorageUnusable(
      "moved",
      `the move of this database to ${mark.place} was cut off in its last moment: ` +
        "run the same `paystate migrate` again, which finds out whether the copy is there",
    );
  }
}
