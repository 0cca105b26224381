/** The tables that were installed in a file, and what the file calls them. */
import { engineTables } from "../engine-tables.ts";
import { TOTALS } from "../sql/group-totals.ts";
import type { InstalledTable } from "../sql/install-statements.ts";
import { LOCK_TABLE, MIGRATIONS_TABLE } from "../sql/migrations/index.ts";
import { statement } from "../sql/statement.ts";
import type { Connection } from "./connection.ts";
import { MOVES } from "./moved.ts";

const TABLES = "paystateTables";

/** Tables that nobody installs, by the names that the code has for them. */
export const FIXED = [...Object.keys(engineTables), TABLES, TOTALS, MIGRATIONS_TABLE, LOCK_TABLE, MOVES];

const allInstalled = statement<object, InstalledTable>(`select * from main."${TABLES}"`);

/** Those of the host, too. */
const allTables = statement<object, { readonly name: string }>(
  `select name from main.sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name`,
);

export const tableNames = (connection: Connection): readonly string[] =>
  connection.all(allTables, {}).map(({ name }) => name);

/**
 * Whether paystate declared a table is not noted. The prefix tells, since no host's table has one; a table that has the prefix
 * in its own name, such as the engine's `paystateSchedules`, is not that of a host's `schedules`.
 */
export function installedIn(
  connection: Connection,
): readonly (InstalledTable & { readonly called: string })[] {
  const names = new Set(tableNames(connection));
  if (!names.has(TABLES)) return [];
  const installed = connection.all(allInstalled, {});
  for (const name of [...FIXED, ...installed.map((table) => table.name)]) names.delete(name);
  return installed.map((table) => {
    const prefixed = connection.nameOf(table.name);
    return { ...table, called: names.has(prefixed) ? prefixed : table.name };
  });
}
