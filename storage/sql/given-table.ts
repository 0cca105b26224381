/** One of the caller's tables in SQL: the statement for what is read or written, with its values, compiled once each. */
import type { Kysely } from "kysely";
import { NotInstalled } from "../install-plan.ts";
import { type AnyQuery, selectionOf, type Selection } from "../query.ts";
import { expectedFields, timeField } from "../expected-fields.ts";
import type { AnyExpectation, AnyRemoval, AnyUpdate } from "../storage.ts";
import type { AnyTable } from "../table.ts";
import { encodeChanges, encodeRow, encodeValue } from "./codecs.ts";
import type { Statement } from "./statement.ts";
import {
  type AnyRow,
  type AnySchema,
  findStatement,
  type Now,
  removalStatement,
  type TableStatements,
  tableStatements,
  tallyStatement,
  updateStatement,
  valueName,
} from "./table-statements.ts";

/** A statement and what it is run with. */
export interface Bound<Row = unknown> {
  readonly statement: Statement<AnyRow, Row>;
  readonly values: AnyRow;
}

export class GivenTable {
  readonly table: AnyTable;
  readonly statements: TableStatements;
  readonly #db: Kysely<AnySchema>;
  readonly #now: Now;
  /**
   * Updates by their fields and what is expected, finds and tallies by what they ask for: as many as there
   * are places in the code.
   */
  readonly #updates = new Map<string, Statement<AnyRow, unknown>>();
  readonly #removals = new Map<string, Statement<AnyRow, unknown>>();
  readonly #finds = new Map<string, Statement<AnyRow, AnyRow>>();
  readonly #tallies = new Map<string, Statement<AnyRow, { count?: number; part?: string | null }>>();

  constructor(db: Kysely<AnySchema>, table: AnyTable, now: Now) {
    this.#db = db;
    this.#now = now;
    this.table = table;
    this.statements = tableStatements(db, table);
  }

  /** @throws TypeError when there is no such index, or the values are not those of its fields. */
  find(query: AnyQuery): Bound<AnyRow> {
    const { order = "asc", limit, beyond } = query;
    const selection = selectionOf(this.table, query);
    const extent = { order, limited: limit !== undefined, beyond: beyond !== undefined };
    const shape = [shapeOf(query.index, selection), order, limit === undefined, beyond === undefined].join();
    const statement = compiledOnce(this.#finds, shape, () =>
      findStatement(this.#db, this.table, { selection, extent }),
    );
    const values = { ...valuesOf(selection), limit: limit ?? null, [valueName.beyond]: beyond ?? null };
    return { statement, values };
  }

  /** Where a field is summed there is a row for each of its values, else one with the count. */
  tally(query: AnyQuery): Bound<{ count?: number; part?: string | null }> {
    const { sum } = query;
    const selection = selectionOf(this.table, query);
    const shape = [shapeOf(query.index, selection), sum ?? ""].join();
    const statement = compiledOnce(this.#tallies, shape, () =>
      tallyStatement(this.#db, this.table, { selection, sum }),
    );
    return { statement, values: valuesOf(selection) };
  }

  insert(record: unknown): Bound {
    return { statement: this.statements.insert, values: encodeRow(this.table, record as object) };
  }

  /** @throws TypeError when rows of the table are never changed, or have no version to expect or no time to compare. */
  update({ id, set, expectedVersion, unexpired: until }: AnyUpdate): Bound {
    if (this.table.appendOnly) throw new TypeError(`rows of ${this.table.name} are never changed`);
    const grows = "version" in this.table.columns;
    const expected = expectedVersion !== undefined;
    if (expected) this.assertVersioned();
    const changes = encodeChanges(this.table, set as object);
    const fields = Object.keys(changes);
    const unexpired = until === undefined ? null : timeField(this.table, until).name;
    const shape = [expected, unexpired ?? "", ...fields].join();
    const statement = compiledOnce(this.#updates, shape, () =>
      updateStatement(this.#db, this.table, { fields, grows, expected, unexpired, now: this.#now }),
    );
    const values = { ...changes, $key: id, $version: expectedVersion ?? null };
    return { statement, values: { ...values, [valueName.now]: until?.now ?? null } };
  }

  /** @throws TypeError when rows of the table are never removed, or an expected value cannot be compared. */
  removal(change: AnyRemoval): Bound {
    const expected = expectedFields(this.table, change);
    const fields = expected.map(([{ name }, value]) => ({ name, isNull: value === null }));
    const shape = fields.map(({ name, isNull }) => (isNull ? `${name} null` : name)).join();
    const statement = compiledOnce(this.#removals, shape, () =>
      removalStatement(this.#db, this.table, fields),
    );
    const values = Object.fromEntries(
      expected.map(([field, value]) => [field.name, encodeValue(field, value)]),
    );
    return { statement, values: { ...values, $key: change.remove } };
  }

  /** The row that is expected to have a version. */
  expected({ id }: AnyExpectation): Bound<AnyRow> {
    this.assertVersioned();
    return { statement: this.statements.get as unknown as Statement<AnyRow, AnyRow>, values: { key: id } };
  }

  /** @throws TypeError when the table has no version. */
  assertVersioned(): void {
    if (!("version" in this.table.columns)) throw new TypeError(`${this.table.name} has no version`);
  }
}

/** The tables that are installed, by their names. */
export class GivenTables {
  readonly #db: Kysely<AnySchema>;
  readonly #now: Now;
  readonly #tables = new Map<string, GivenTable>();

  constructor(db: Kysely<AnySchema>, now: Now) {
    this.#db = db;
    this.#now = now;
  }

  /** Takes a table that is in the database. */
  add(table: AnyTable): void {
    if (this.#tables.get(table.name)?.table === table) return;
    this.#tables.set(table.name, new GivenTable(this.#db, table, this.#now));
  }

  /** @throws NotInstalled when the table is none of them. */
  of(name: string): GivenTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new NotInstalled(name);
    return table;
  }
}

function compiledOnce<S>(known: Map<string, S>, shape: string, compile: () => S): S {
  const found = known.get(shape) ?? compile();
  known.set(shape, found);
  return found;
}

/** What two reads have in common that one statement can serve. */
function shapeOf(index: string | undefined, { equals, after }: Selection): string {
  return [
    index ?? "",
    equals.map(([, value]) => (value === null ? "null" : "value")).join(),
    after.length,
  ].join("|");
}

function valuesOf({ equals, after }: Selection): AnyRow {
  const values: AnyRow = {};
  for (const [field, value] of equals) values[valueName.equal(field.name)] = encodeValue(field, value);
  for (const [field, value] of after) values[valueName.after(field.name)] = encodeValue(field, value);
  return values;
}
