/** The tables in a file that paystate made there. */
import type { InstalledTable } from "../sql/install-statements.ts";
import { schemaTables, TABLES } from "../sql/schema.ts";
import { statement } from "../sql/statement.ts";
import type { Connection } from "./connection.ts";
import { MOVES } from "./moved.ts";

/** Tables that nobody installs. */
export const FIXED = [...Object.keys(schemaTables), MOVES];

const allInstalled = statement<object, InstalledTable>(`select * from main."${TABLES}"`);

/** Tables of the host are listed, too. */
const allTables = statement<object, { readonly name: string }>(
  `select name from main.sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name`,
);

export const tableNames = (connection: Connection): readonly string[] =>
  connection.all(allTables, {}).map(({ name }) => name);

export const installedIn = (connection: Connection): readonly InstalledTable[] =>
  tableNames(connection).includes(TABLES) ? connection.all(allInstalled, {}) : [];
