/** The caller's tables in SQLite: how they are installed, and written in commits. */
import { type GroupLimitCheck, valueName, valueOf } from "../sql/given-table.ts";
import type { GivenTables, DatabaseDialect } from "../sql/given-tables.ts";
import { totalIn } from "../sql/group-totals.ts";
import { foundOf, installedStatements, installing, type TableStatus } from "../sql/install-statements.ts";
import { sqliteSchema } from "../sql/migrations/dialect.ts";
import type { StatementReader } from "../sql/statement.ts";
import type { AnyWrite } from "../storage.ts";
import type { AnyTable } from "../table.ts";
import type { Connection } from "./connection.ts";
import { isTaken } from "./explain.ts";

export const databaseDialect = (connection: Connection, read: StatementReader): DatabaseDialect => ({
  read,
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
  const stored = connection.get(installedStatements.installed, { name: table.name });
  const status = { ...there, stored, found: foundOf(table, there.found) };
  const plan = installing(table, status, sqliteSchema);
  if (plan === null) return;
  for (const change of plan.changes) connection.change(change);
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

/** Looks under the write lock of the commit, so that no other commit comes between the look and the insert. */
function hasRoom(connection: Connection, { forget, counted, isSum, plus, most }: GroupLimitCheck): boolean {
  if (forget !== null) connection.run(forget.statement, forget.values);
  if (most === null) return true;
  const found = connection.get(counted.statement, counted.values) ?? { count: 0 };
  const size = isSum ? totalIn(found) : BigInt(found.count);
  return size >= 0n && size + plus <= most;
}
