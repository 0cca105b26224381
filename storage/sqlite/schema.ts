/** The schema in a database file: whether it is there, and its making. */
import { sqliteSchema } from "../sql/dialect.ts";
import {
  assertUsable,
  type FoundSchema,
  isWritten,
  neededTables,
  READ_VERSION,
  schemaStatements,
} from "../sql/schema.ts";
import type { SqliteDatabase } from "./handle.ts";

const TABLES = `select name from sqlite_master where type = 'table' and name like 'paystate%'`;
const NEEDED = `(select value as name from json_each('${JSON.stringify(neededTables)}')) t`;
const COLUMNS = `select t.name as "table", c.name as "column" from ${NEEDED} join pragma_table_info(t.name) c`;
const UNIQUES = `select t.name as "table", (select group_concat(c.name, ' ') from pragma_index_info(i.name) c) as "columns"
  from ${NEEDED} join pragma_index_list(t.name) i where i."unique" = 1 and i.partial = 0`;

/**
 * False for an empty file, and for one of a host's tables alone.
 * @throws StorageUnusable `newer_schema` or `old_schema` for a schema that this program cannot work with.
 */
export function hasSchema(database: SqliteDatabase): boolean {
  const all = (sql: string): unknown[] => database.prepare(sql).all();
  const tables = all(TABLES) as readonly { readonly name: string }[];
  if (!isWritten(tables.map(({ name }) => name))) return false;
  assertUsable({
    versions: all(READ_VERSION) as FoundSchema["versions"],
    columns: all(COLUMNS) as FoundSchema["columns"],
    uniques: all(UNIQUES) as FoundSchema["uniques"],
  });
  return true;
}

/** Within a transaction that holds the write lock. */
export function makeSchema(database: SqliteDatabase): void {
  for (const text of schemaStatements(sqliteSchema)) database.prepare(text).run();
}
