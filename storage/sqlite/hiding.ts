/** Temporary tables of a host's connection that are named as ours: SQLite finds them before ours, and they end with it. */
import { engineTables } from "../engine-tables.ts";
import { LOCK_TABLE, MIGRATIONS_TABLE } from "../sql/migrations/index.ts";
import { type NameOf, type Statement, statement } from "../sql/statement.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import type { SqliteDatabase } from "./driver.ts";
import { MOVES } from "./moved.ts";
import { nameOfIn } from "./schema.ts";

interface Hiding {
  readonly name: string;
}

const fixed = [...Object.keys(engineTables), MIGRATIONS_TABLE, LOCK_TABLE, MOVES];

const hidingOf = (nameOf: NameOf, installed: string): Statement<object, Hiding> =>
  statement(
    `select name from sqlite_temp_master where type in ('table', 'view') and lower(name) in (
      ${installed} values ${fixed.map((name) => `(lower('${nameOf(name)}'))`).join(", ")}) limit 1`,
  );

/** The first that hides one of the engine's tables, or of those that were installed. */
export const hiding = (nameOf: NameOf): Statement<object, Hiding> =>
  hidingOf(nameOf, `select lower(name) from main."paystateTables" union all`);

/** @throws StorageUnusable `foreign_database` with the name; the file itself may have none of our tables yet. */
export function refuseHiding(database: SqliteDatabase): void {
  const isMade = database.prepare(`select 1 from main.sqlite_master where name = 'paystateTables'`).get();
  const nameOf = nameOfIn(database);
  const found = database.prepare((isMade === undefined ? hidingOf(nameOf, "") : hiding(nameOf)).text).get();
  if (found !== undefined) throw hidden((found as Hiding).name, "foreign_database");
}

export const hidden = (name: string, code: "foreign_database" | "other_table"): StorageUnusable =>
  new StorageUnusable(
    code,
    `this connection has a temporary table "${name}", which hides paystate's own of that name: rename it, or give ` +
      "paystate the path of the file",
  );
