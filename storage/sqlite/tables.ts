/** The caller's tables in SQLite: how they are installed, and written in commits. */
import { type GivenTable, valueName, valueOf } from "../sql/given-table.ts";
import type { GivenTables, TableActs } from "../sql/given-tables.ts";
import { installedStatements, installing } from "../sql/install-statements.ts";
import { sqliteSchema } from "../sql/migrations/dialect.ts";
import type { AnyRow, Bound, Read } from "../sql/statement.ts";
import type { AnyExpectation, AnyInsert, AnyUpdate, AnyWrite } from "../storage.ts";
import type { AnyTable } from "../table.ts";
import type { Connection } from "./connection.ts";
import { isTaken } from "./explain.ts";

export const tableActs = (connection: Connection, read: Read): TableActs => ({
  read,
  schema: sqliteSchema,
  now: valueOf(valueName.now),
  bring: (tables) => connection.write(() => tables.forEach((table) => bring(connection, table))),
  async sum({ statement, values }) {
    const parts = await read(statement, values);
    // Added here and not by SQLite, whose integers end at 2^63 and whose other numbers are not exact.
    return { count: parts.length, total: totalOf(parts) };
  },
});

function bring(connection: Connection, table: AnyTable): void {
  const stored = connection.get(installedStatements.installed, { name: table.name });
  const plan = installing(table, stored, sqliteSchema);
  if (plan === null) return;
  for (const change of plan.changes) connection.change(change);
  connection.run(installedStatements.record, plan.record);
}

const totalOf = (parts: readonly { readonly part: string | null }[]): bigint =>
  parts.reduce((total, { part }) => total + BigInt(part ?? 0), 0n);

/** The writes of commits. */
export class TableWrites {
  readonly #connection: Connection;
  readonly #given: GivenTables;

  constructor(connection: Connection, given: GivenTables) {
    this.#connection = connection;
    this.#given = given;
  }

  /** Within a commit; false when the write is refused. */
  write(change: AnyWrite): boolean {
    const given = this.#given.of(change.table);
    if ("insert" in change) return this.#insert(given, change);
    if ("remove" in change) return this.#run(given.removal(change)) === 1;
    return "set" in change ? this.#update(given, change) : this.#isAsExpected(given, change);
  }

  #insert(given: GivenTable, { insert: record, atMost }: AnyInsert): boolean {
    const insert = given.insert(record);
    return (atMost === undefined || this.#hasRoom(given, insert.values, atMost)) && this.#run(insert) === 1;
  }

  #update(given: GivenTable, change: AnyUpdate): boolean {
    const update = given.update(change);
    try {
      return this.#run(update) === 1;
    } catch (error) {
      if (isTaken(error)) return false;
      throw error;
    }
  }

  #isAsExpected(given: GivenTable, expectation: AnyExpectation): boolean {
    const row = this.#get(given.expected(expectation));
    return Number(row?.["version"] ?? 0) === expectation.expectVersion;
  }

  /** Looks under the write lock of the commit, so that no other commit comes between the look and the insert. */
  #hasRoom(given: GivenTable, row: AnyRow, atMost: NonNullable<AnyInsert["atMost"]>): boolean {
    const { counted, forget } = given.measure(row, atMost);
    if (forget !== null) this.#run(forget);
    if (!("total" in atMost)) return (this.#get(counted)?.count ?? 0) < atMost.count;
    if (atMost.total === null) return true;
    const others = this.#connection.all(counted.statement, counted.values);
    return totalOf(others) + BigInt(String(row[given.table.group?.sum ?? ""])) <= atMost.total;
  }

  #get<Row>({ statement, values }: Bound<Row>): Row | undefined {
    return this.#connection.get(statement, values);
  }

  #run({ statement, values }: Bound): number {
    return this.#connection.run(statement, values);
  }
}
