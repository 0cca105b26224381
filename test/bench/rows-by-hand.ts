/** Rows written by hand: SQL on the driver itself, which is what a storage could do if nobody decided anything. */
import Database from "better-sqlite3";
import { sqliteStorage } from "../kit/storages.ts";
import { costOf, type Cost } from "./figures.ts";

/** What stands in each of the commits that one unit needs, one after the other. */
export interface RowsByHand {
  readonly commits: number;
  /** Compiles the statements; what it answers writes the n-th commit, from 1 on, of a unit. */
  prepare(database: Database.Database): (unit: string, commit: number) => void;
}

/** How many units a file gets, and how many of them share a transaction. */
export interface HowMany {
  readonly total: number;
  readonly group: number;
}

/** A transaction has one commit of each unit of a group, since the next one follows what the last one has made durable. */
export async function writeByHand(path: string, rows: RowsByHand, { total, group }: HowMany): Promise<Cost> {
  // Creates the tables.
  await (await sqliteStorage(path)).close();
  const database = new Database(path);
  database.pragma("synchronous = FULL");
  const write = rows.prepare(database);
  const cost = await costOf(total, () => {
    for (let first = 0; first < total; first += group) {
      for (let commit = 1; commit <= rows.commits; commit += 1) {
        database.exec("begin immediate");
        for (let unit = first; unit < Math.min(first + group, total); unit += 1) {
          write(String(unit).padStart(8, "0"), commit);
        }
        database.exec("commit");
      }
    }
  });
  database.close();
  return cost;
}
