/** Rows written by hand: SQL on the driver itself, which is what a storage could do if nobody decided anything. */
import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import { sqliteStorage } from "../kit/storages.ts";
import { costOf, type Cost } from "./figures.ts";

/** A file beside this one, that has the statements of each commit of a unit below a line such as `-- commit 2 3 4`. */
export type RowsByHand = "workflow-rows.sql" | "send-rows.sql";

/** npm runs scripts at the root of the project. */
const FOLDER = "test/bench";

/** The statements of each commit, compiled. */
function commitsOf(database: Database.Database, rows: RowsByHand): readonly Database.Statement[][] {
  const commits: Database.Statement[][] = [];
  const [, ...sections] = readFileSync(`${FOLDER}/${rows}`, "utf8").split("-- commit ");
  for (const section of sections) {
    const [numbers = "", ...lines] = section.split("\n");
    const texts = lines.join("\n").trim().split(/;\n?/);
    const statements = texts.filter((text) => text !== "").map((text) => database.prepare(text));
    for (const number of numbers.split(" ")) commits[Number(number) - 1] = statements;
  }
  return commits;
}

/** How many units are written, and how many of them share a transaction. */
export interface HowManyRows {
  readonly total: number;
  readonly group: number;
}

/** A file that is written by hand. */
export interface FileByHand {
  write(howMany: HowManyRows): Promise<Cost>;
  close(): void;
}

/** A transaction has one commit of each unit of a group, since the next one follows what the last one has made durable. */
export async function fileByHand(path: string, rows: RowsByHand): Promise<FileByHand> {
  // Creates the tables.
  await (await sqliteStorage(path)).close();
  const database = new Database(path);
  database.pragma("synchronous = FULL");
  const commits = commitsOf(database, rows);
  let written = 0;
  const writeGroup = (units: number): void => {
    for (const [before, statements] of commits.entries()) {
      database.exec("begin immediate");
      for (let unit = 0; unit < units; unit += 1) {
        // As long as a stamp of the engine.
        const named = { id: String(written + unit).padStart(16, "0"), commit: before + 1, at: Date.now() };
        for (const statement of statements) statement.run(named);
      }
      database.exec("commit");
    }
    written += units;
  };
  return {
    write: ({ total, group }) =>
      costOf(total, () => {
        for (let left = total; left > 0; left -= group) writeGroup(Math.min(group, left));
      }),
    close: () => void database.close(),
  };
}
