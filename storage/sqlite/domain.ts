/** The tables of the payment service in SQLite, and the writes to them. */
import type { Kysely } from "kysely";
import type { PaymentTables, TableName } from "../records.ts";
import { decodeRow, encodeChanges, encodeRow } from "../sql/codecs.ts";
import {
  type AnyRow,
  type AnySchema,
  type AnyTable,
  type DomainStatements,
  domainStatements,
  updateStatement,
} from "../sql/domain-statements.ts";
import type { Expectation, Insert, PaymentWrite, Update } from "../storage.ts";
import { paymentTables, type Table } from "../tables.ts";
import type { Connection, Prepared, PreparedAll } from "./connection.ts";
import { isTaken } from "./explain.ts";

interface DomainTable {
  readonly table: AnyTable;
  readonly statements: PreparedAll<Pick<DomainStatements, "insert" | "get">>;
  readonly count: Prepared<AnyRow, { count: number }> | null;
  readonly forget: Prepared<AnyRow, unknown> | null;
  readonly parts: Prepared<AnyRow, { part: string }> | null;
}

export class Domain {
  readonly #connection: Connection;
  readonly #db: Kysely<AnySchema>;
  readonly #tables: ReadonlyMap<TableName, DomainTable>;
  /** Updates by table, fields and whether a version is expected: as many as there are places in the code. */
  readonly #updates = new Map<string, Prepared<AnyRow, unknown>>();

  constructor(connection: Connection, db: Kysely<AnySchema>) {
    this.#connection = connection;
    this.#db = db;
    const entries = Object.entries(paymentTables) as unknown as [TableName, AnyTable][];
    this.#tables = new Map(entries.map(([name, table]) => [name, prepared(connection, db, name, table)]));
  }

  /** One record, or null. */
  get<T extends TableName>(name: T, id: string): PaymentTables[T] | null {
    const row = this.#of(name).statements.get.get({ id });
    return row === undefined ? null : this.decode(name, row);
  }

  decode<T extends TableName>(name: T, row: object): PaymentTables[T] {
    return decodeRow(paymentTables[name] as unknown as Table<PaymentTables[T]>, row);
  }

  /** Within a commit; false when the write is refused. */
  write(change: PaymentWrite): boolean {
    if ("insert" in change) return this.#insert(change);
    return "set" in change ? this.#update(change) : this.#isAsExpected(change);
  }

  #isAsExpected({ table: name, id, expectVersion }: Expectation<PaymentTables>): boolean {
    const { table, statements } = this.#of(name);
    if (!("version" in table.columns)) throw new TypeError(`${name} has no version`);
    return Number(statements.get.get({ id })?.["version"] ?? 0) === expectVersion;
  }

  #insert({ table: name, insert, atMost }: Insert<PaymentTables>): boolean {
    const domain = this.#of(name);
    const row = encodeRow(domain.table, { ...insert });
    return (atMost === undefined || hasRoom(domain, row, atMost)) && domain.statements.insert.run(row) === 1;
  }

  #update({ table: name, id, set, expectedVersion }: Update<PaymentTables>): boolean {
    const { table } = this.#of(name);
    if (table.appendOnly === true) throw new TypeError(`rows of ${name} are never changed`);
    const grows = "version" in table.columns;
    const expected = expectedVersion !== undefined;
    if (expected && !grows) throw new TypeError(`${name} has no version`);
    const changes = encodeChanges(table, set);
    const fields = Object.keys(changes);
    const key = JSON.stringify([name, expected, ...fields]);
    const update =
      this.#updates.get(key) ??
      this.#connection.prepare(updateStatement(this.#db, name, fields, { grows, expected }));
    this.#updates.set(key, update);
    try {
      return update.run({ id, expectedVersion: expectedVersion ?? null, ...changes }) === 1;
    } catch (error) {
      if (isTaken(error)) return false;
      throw error;
    }
  }

  #of(name: TableName): DomainTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new TypeError(`there is no table ${name}`);
    return table;
  }
}

function prepared(connection: Connection, db: Kysely<AnySchema>, name: string, table: AnyTable): DomainTable {
  const { insert, get, count, forget, parts } = domainStatements(db, name, table);
  return {
    table,
    statements: connection.prepareAll({ insert, get }),
    count: count && connection.prepare(count),
    forget: forget && connection.prepare(forget),
    parts: parts && connection.prepare(parts),
  };
}

/** Looks under the write lock of the commit, so that nobody comes between the look and the insert. */
function hasRoom(
  { table, count, forget, parts }: DomainTable,
  row: AnyRow,
  atMost: NonNullable<Insert<PaymentTables>["atMost"]>,
): boolean {
  const { since = -Infinity } = atMost;
  if (!("total" in atMost)) {
    if (count === null) throw new TypeError("atMost needs a table that has a group");
    forget?.run({ since, ...row });
    return (count.get({ since, ...row })?.count ?? 0) < atMost.count;
  }
  const sum = table.group?.sum;
  if (parts === null || sum === undefined) throw new TypeError("a total needs a group with a sum");
  forget?.run({ since, ...row });
  if (atMost.total === null) return true;
  // Added here and not by SQLite, whose integers end at 2^63 and whose other numbers are not exact.
  const others = parts.all({ since, ...row }).reduce((total, { part }) => total + BigInt(part), 0n);
  return others + BigInt(row[sum] as string) <= atMost.total;
}
