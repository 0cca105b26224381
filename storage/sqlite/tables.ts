/** The caller's tables in SQLite: installed, written in commits, and read. */
import type { AnyQuery } from "../query.ts";
import { decodeRow } from "../sql/codecs.ts";
import { type GivenTable, GivenTables } from "../sql/given-table.ts";
import { installedStatements, installing } from "../sql/install-statements.ts";
import { sqliteSchema } from "../sql/migrations/dialect.ts";
import type { AnyRow, Bound } from "../sql/statement.ts";
import type { AnyExpectation, AnyInsert, AnyUpdate, AnyWrite, Tallied } from "../storage.ts";
import type { AnyTable } from "../table.ts";
import type { Connection } from "./connection.ts";
import { isTaken } from "./explain.ts";

export class Tables {
  readonly #connection: Connection;
  readonly #tables = new GivenTables();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Asks for the write lock only when there is something to do, and looks again when it has it. */
  async install(tables: readonly AnyTable[]): Promise<void> {
    const plan = (table: AnyTable) =>
      installing(
        table,
        this.#connection.get(installedStatements.installed, { name: table.name }) ?? null,
        sqliteSchema,
      );
    const isDone = (table: AnyTable): boolean => plan(table) === null;
    if (!(await this.#connection.read(() => tables.every(isDone)))) {
      await this.#connection.write(() => {
        for (const table of tables) {
          const planned = plan(table);
          for (const change of planned?.changes ?? []) this.#connection.change(change);
          if (planned !== null) this.#connection.run(installedStatements.record, planned.record);
        }
      });
    }
    for (const table of tables) this.#tables.add(table);
  }

  /** One record, or null. */
  get({ name }: AnyTable, key: string): object | null {
    const given = this.#tables.of(name);
    const row = this.#get(given.get(key));
    return row === undefined ? null : decodeRow(given.table, row);
  }

  find(query: AnyQuery): object[] {
    const given = this.#tables.of(query.table.name);
    return this.#all(given.find(query)).map((row) => decodeRow(given.table, row));
  }

  tally(query: AnyQuery): Tallied {
    const rows = this.#all(this.#tables.of(query.table.name).tally(query));
    if (query.sum === undefined) return { count: rows[0]?.count ?? 0, total: 0n };
    // Added here and not by SQLite, whose integers end at 2^63 and whose other numbers are not exact.
    return { count: rows.length, total: rows.reduce((total, { part }) => total + BigInt(part ?? 0), 0n) };
  }

  /** Within a commit; false when the write is refused. */
  write(change: AnyWrite): boolean {
    const given = this.#tables.of(change.table);
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
    const others = this.#all(counted).reduce((total, { part }) => total + BigInt(part), 0n);
    return others + BigInt(String(row[given.table.group?.sum ?? ""])) <= atMost.total;
  }

  #get<Row>({ statement, values }: Bound<Row>): Row | undefined {
    return this.#connection.get(statement, values);
  }

  #all<Row>({ statement, values }: Bound<Row>): Row[] {
    return this.#connection.all(statement, values);
  }

  #run({ statement, values }: Bound): number {
    return this.#connection.run(statement, values);
  }
}
