/** The caller's tables in SQLite: how they are installed, and written in commits. */
import { type GroupLimitCheck, valueName, valueOf } from "../sql/given-table.ts";
import type { GivenTables, DatabaseDialect } from "../sql/given-tables.ts";
import { totalIn } from "../sql/group-totals.ts";
import { foundOf, installedStatements, installing, type TableStatus } from "../sql/install-statements.ts";
import { sqliteSchema } from "../sql/migrations/dialect.ts";
import type { StatementReader } from "../sql/statement.ts";
import type { AnyInsert, AnyWrite } from "../storage.ts";
import { type AnyTable, declaredName } from "../table.ts";
import type { Connection } from "./connection.ts";
import { isTaken, takenName } from "./explain.ts";
import { refuseHiding } from "./hiding.ts";

export const databaseDialect = (connection: Connection, read: StatementReader): DatabaseDialect => ({
  read,
  nameOf: () => connection.read(() => connection.nameOf),
  schema: sqliteSchema,
  dialect: {
    now: valueOf(valueName.now),
    isAnyOf: `in (select value from json_each(${valueOf(valueName.anyOf)}))`,
    json: JSON.stringify,
    totals: sqliteSchema.totals,
  },
  bring: (tables) =>
    connection.write(() => {
      const found = connection.all(sqliteSchema.indexes, {});
      const triggers = connection.all(sqliteSchema.foundTriggers, {});
      for (const table of tables) bring(connection, table, { found, triggers });
      refuseHiding(connection, "other_table");
    }),
  async sum({ statement, values }) {
    const parts = await read(statement, values);
    // Added here and not by SQLite, whose integers end at 2^63 and whose other numbers are not exact.
    const total = parts.reduce((sum, { part }) => sum + BigInt(part ?? 0), 0n);
    return { count: parts.length, total };
  },
  mend: (statements) =>
    connection.write(() => {
      for (const { statement, values } of statements) connection.run(statement, values);
    }),
});

function bring(connection: Connection, table: AnyTable, there: Omit<TableStatus, "stored">): void {
  const stored = connection.get(installedStatements.installed, { name: declaredName(table) });
  const status = { ...there, stored, found: foundOf(table, there.found) };
  const plan = installing(table, status, sqliteSchema);
  if (plan === null) return;
  try {
    for (const change of plan.changes) connection.change(change);
  } catch (error) {
    throw takenName(error, "other_table");
  }
  connection.run(installedStatements.record, plan.record);
}

/** Within a commit; false when the write is refused. */
export function isWritten(connection: Connection, given: GivenTables, write: AnyWrite): boolean {
  const { bound, rows, room } = given.of(write.table).write(write);
  const { statement, values } = bound;
  if (room !== undefined && !hasRoom(connection, room)) return false;
  if ("expectVersion" in write) return (connection.get(statement, values) === undefined ? 0 : 1) === rows;
  try {
    return connection.run(statement, values) === rows;
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
  const columns = Object.keys(given.of(first.table).table.columns).length;
  for (let at = 0; at < inserts.length;) {
    const rows = inserts.slice(at, at + rowsAtOnce(inserts.length - at, columns));
    const refused =
      rows.length === 1 ? refusedAlone(connection, given, rows) : refusedOf(connection, given, rows);
    if (refused !== -1) return at + refused;
    at += rows.length;
  }
  return -1;
}

function rowsAtOnce(left: number, columns: number): number {
  const most = Math.min(left, MAX_ROWS, Math.max(1, Math.floor(MAX_VALUES / columns)));
  return 2 ** Math.floor(Math.log2(most));
}

const refusedAlone = (connection: Connection, given: GivenTables, inserts: readonly AnyInsert[]): number =>
  inserts.findIndex((insert) => !isWritten(connection, given, insert));

function refusedOf(connection: Connection, given: GivenTables, inserts: readonly AnyInsert[]): number {
  const [first] = inserts;
  if (first === undefined) return -1;
  const table = given.of(first.table);
  const { key } = table.table;
  const records = inserts.map(({ insert }) => insert as Readonly<Record<string, unknown>>);
  // Of two rows with one key it could not be told which one is there.
  if (new Set(records.map((record) => record[key])).size < records.length) {
    return refusedAlone(connection, given, inserts);
  }
  const { statement, values } = table.insertAll(records);
  try {
    const written = new Set(connection.all(statement, values).map((row) => row[key]));
    return written.size === records.length
      ? -1
      : records.findIndex((record) => !written.has(record[key] as string));
  } catch (error) {
    if (isTaken(error)) return refusedAlone(connection, given, inserts);
    throw error;
  }
}

/** Looks under the write lock of the commit, so that no other commit comes between the look and the insert. */
function hasRoom(connection: Connection, { forget, counted, isSum, plus, most }: GroupLimitCheck): boolean {
  if (forget !== null) connection.run(forget.statement, forget.values);
  if (most === null) return true;
  const found = connection.get(counted.statement, counted.values) ?? { count: 0 };
  const size = isSum ? totalIn(found) : BigInt(found.count);
  return size >= 0n && size + plus <= most;
}
