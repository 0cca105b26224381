/** The caller's tables in SQLite: how they are installed, and written in commits. */
import { type GivenTable, type GroupLimitCheck, valueName, valueOf } from "../sql/given-table.ts";
import type { GivenTables, DatabaseDialect } from "../sql/given-tables.ts";
import { totalIn } from "../sql/group-totals.ts";
import { installedStatements, installing, type TableStatus } from "../sql/install-statements.ts";
import { sqliteSchema } from "../sql/dialect.ts";
import type { StatementReader } from "../sql/statement.ts";
import type { AnyInsert, AnyWrite } from "../storage.ts";
import type { AnyTable } from "../table.ts";
import type { Connection } from "./connection.ts";
import { isTaken, takenName } from "./explain.ts";
import { refuseHiding } from "./hiding.ts";

export const databaseDialect = (connection: Connection, read: StatementReader): DatabaseDialect => ({
  read,
  schema: sqliteSchema,
  now: valueOf(valueName.now),
  isAnyOf: `in (select value from json_each(${valueOf(valueName.anyOf)}))`,
  json: JSON.stringify,
  bring: (tables) =>
    connection.write(() => {
      const found = connection.all(sqliteSchema.indexes, {});
      const triggers = connection.all(sqliteSchema.foundTriggers, {});
      for (const table of tables) bring(connection, table, { found, triggers });
      refuseHiding(connection, "other_table");
    }),
  async sum(statement) {
    const parts = await read(statement, statement.values);
    // Added here and not by SQLite, whose integers end at 2^63 and whose other numbers are not exact.
    const total = parts.reduce((sum, { part }) => sum + BigInt(part ?? 0), 0n);
    return { count: parts.length, total };
  },
  mend: (statements) =>
    connection.write(() => {
      for (const each of statements) connection.run(each, each.values);
    }),
});

function bring(connection: Connection, table: AnyTable, there: Omit<TableStatus, "stored">): void {
  const stored = connection.get(installedStatements.installed, { name: table.sqlName });
  const plan = installing(table, { ...there, stored }, sqliteSchema);
  if (plan === null) return;
  try {
    for (const change of plan.changes) connection.change(change);
  } catch (error) {
    throw takenName(error, "other_table");
  }
  connection.run(installedStatements.record, plan.record);
}

/** Within a commit; false when the write is refused. */
export function isWritten(connection: Connection, given: GivenTable, write: AnyWrite): boolean {
  const prepared = given.write(write);
  const { values, rows, room } = prepared;
  if (room !== undefined && !hasRoom(connection, room)) return false;
  if ("expectVersion" in write) return (connection.get(prepared, values) === undefined ? 0 : 1) === rows;
  try {
    const changed = connection.run(prepared, values);
    return rows === undefined || changed === rows;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

/** SQLite takes 32,766 values a statement. */
const MAX_VALUES = 32_000;
const MAX_ROWS = 256;

/**
 * Within a commit: the place of the first insert that is refused, or -1. A statement inserts 256 rows, 128, 64 and so on,
 * so that there are few to be prepared.
 */
export function firstRefused(
  connection: Connection,
  given: GivenTables,
  inserts: readonly AnyInsert[],
): number {
  const [first] = inserts;
  if (first === undefined) return -1;
  const table = given.of(first.table);
  const columns = Object.keys(table.table.columns).length;
  for (let at = 0; at < inserts.length;) {
    const rows = inserts.slice(at, at + rowsAtOnce(inserts.length - at, columns));
    const refused = refusedOf(connection, table, rows);
    if (refused !== -1) return at + refused;
    at += rows.length;
  }
  return -1;
}

function rowsAtOnce(left: number, columns: number): number {
  const most = Math.min(left, MAX_ROWS, Math.max(1, Math.floor(MAX_VALUES / columns)));
  return 2 ** Math.floor(Math.log2(most));
}

function refusedOf(connection: Connection, table: GivenTable, inserts: readonly AnyInsert[]): number {
  const alone = (): number => inserts.findIndex((insert) => !isWritten(connection, table, insert));
  const { key } = table.table;
  const records = inserts.map(({ insert }) => insert as Readonly<Record<string, unknown>>);
  // With two rows of one key, the present row would be unknown.
  const isOneOfEach = new Set(records.map((record) => record[key])).size === records.length;
  if (records.length === 1 || !isOneOfEach) return alone();
  const inserting = table.insertAll(records);
  try {
    const written = new Set(connection.all(inserting, inserting.values).map((row) => row[key]));
    return written.size === records.length
      ? -1
      : records.findIndex((record) => !written.has(record[key] as string));
  } catch (error) {
    if (isTaken(error)) return alone();
    throw error;
  }
}

/** Looks under the write lock of the commit, so that no other commit comes between the look and the insert. */
function hasRoom(connection: Connection, { forget, counted, isSum, plus, most }: GroupLimitCheck): boolean {
  if (forget !== null) connection.run(forget, forget.values);
  if (most === null) return true;
  const found = connection.get(counted, counted.values) ?? { count: 0 };
  const size = isSum ? totalIn(found) : BigInt(found.count);
  return size >= 0n && size + plus <= most;
}
