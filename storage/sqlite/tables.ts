/** The caller's tables in SQLite: installed, written in commits, and read. */
import type { Kysely } from "kysely";
import { definitionOf, NotInstalled, planInstall } from "../install-plan.ts";
import { type AnyQuery, fieldNamed, selectionOf, type Selection } from "../query.ts";
import { decodeRow, encodeChanges, encodeRow, encodeValue } from "../sql/codecs.ts";
import { creation, installedStatements, migration } from "../sql/install-statements.ts";
import type { Schema } from "../sql/schema.ts";
import {
  type AnyRow,
  type AnySchema,
  findStatement,
  placeFields,
  tableStatements,
  type TableStatements,
  tallyStatement,
  updateStatement,
  valueName,
} from "../sql/table-statements.ts";
import type { AnyExpectation, AnyInsert, AnyUpdate, AnyWrite, Tallied } from "../storage.ts";
import type { AnyTable } from "../table.ts";
import type { Connection, Prepared, PreparedAll } from "./connection.ts";
import { isTaken } from "./explain.ts";

interface PreparedTable {
  readonly table: AnyTable;
  readonly statements: PreparedAll<Pick<TableStatements, "insert" | "get">>;
  readonly count: Prepared<AnyRow, { count: number }> | null;
  readonly forget: Prepared<AnyRow, unknown> | null;
  readonly parts: Prepared<AnyRow, { part: string }> | null;
  /**
   * Updates by their fields and whether a version is expected, finds and tallies by what they ask for: as many as there
   * are places in the code.
   */
  readonly updates: Map<string, Prepared<AnyRow, unknown>>;
  readonly finds: Map<string, Prepared<AnyRow, AnyRow>>;
  readonly tallies: Map<string, Prepared<AnyRow, { count?: number; part?: string | null }>>;
}

export class Tables {
  readonly #connection: Connection;
  readonly #db: Kysely<Schema>;
  readonly #any: Kysely<AnySchema>;
  readonly #installed: PreparedAll<ReturnType<typeof installedStatements>>;
  readonly #tables = new Map<string, PreparedTable>();

  constructor(connection: Connection, db: Kysely<Schema>) {
    this.#connection = connection;
    this.#db = db;
    this.#any = db as unknown as Kysely<AnySchema>;
    this.#installed = connection.prepareAll(installedStatements(db));
  }

  /** Asks for the write lock only when there is something to do, and looks again when it has it. */
  async install(tables: readonly AnyTable[]): Promise<void> {
    const isDone = (table: AnyTable): boolean => this.#plan(table) === "keep";
    if (!(await this.#connection.read(() => tables.every(isDone)))) {
      await this.#connection.write(() => {
        for (const table of tables) this.#bring(table);
      });
    }
    await this.#connection.read(() => {
      for (const table of tables) {
        const isKnown = this.#tables.get(table.name)?.table === table;
        if (!isKnown) this.#tables.set(table.name, this.#prepared(table));
      }
    });
  }

  #plan(table: AnyTable): ReturnType<typeof planInstall> {
    return planInstall(table, this.#installed.installed.get({ name: table.name }) ?? null);
  }

  #bring(table: AnyTable): void {
    const plan = this.#plan(table);
    if (plan === "keep") return;
    const changes = plan === "create" ? creation(this.#db, table) : migration(this.#db, table, plan);
    for (const change of changes) this.#connection.change(change);
    const { name, migrations } = table;
    this.#installed.record.run({ name, definition: definitionOf(table), migrations: migrations.length });
  }

  #prepared(table: AnyTable): PreparedTable {
    const { count, forget, parts, ...always } = tableStatements(this.#any, table);
    const connection = this.#connection;
    return {
      table,
      statements: connection.prepareAll({ insert: always.insert, get: always.get }),
      count: count && connection.prepare(count),
      forget: forget && connection.prepare(forget),
      parts: parts && connection.prepare(parts),
      updates: new Map(),
      finds: new Map(),
      tallies: new Map(),
    };
  }

  /** One record, or null. */
  get({ name }: AnyTable, key: string): object | null {
    const { table, statements } = this.#of(name);
    const row = statements.get.get({ key });
    return row === undefined ? null : decodeRow(table, row);
  }

  find(query: AnyQuery): object[] {
    const prepared = this.#of(query.table.name);
    const { table } = prepared;
    const { order = "asc", limit, beyond } = query;
    const selection = selectionOf(table, query);
    const place = beyond === undefined ? {} : this.#placeOf(prepared, selection, beyond);
    if (place === null) return [];
    const shape = [shapeOf(query.index, selection), order, limit === undefined, beyond === undefined].join();
    const known = prepared.finds.get(shape);
    const found =
      known ??
      this.#connection.prepare(
        findStatement(this.#any, table, selection, {
          ...{ order, limited: limit !== undefined, beyond: beyond !== undefined },
        }),
      );
    if (known === undefined) prepared.finds.set(shape, found);
    const values = { ...valuesOf(selection), ...place, limit: limit ?? null };
    return found.all(values).map((row) => decodeRow(table, row));
  }

  /** Where a row stands; null when it is not in the selection. */
  #placeOf({ table, statements }: PreparedTable, selection: Selection, key: string): AnyRow | null {
    const row = statements.get.get({ key });
    const { index, equals } = selection;
    const isIn =
      row !== undefined &&
      equals.every(([field, value]) => row[field.name] === encodeValue(field, value)) &&
      Object.entries(index.where).every(
        ([field, value]) => row[field] === encodeValue(fieldNamed(table, field), value),
      ) &&
      index.present.every((field) => row[field] !== null);
    if (!isIn) return null;
    const fields = placeFields(table, selection);
    return Object.fromEntries(fields.map((field) => [valueName.after(field), row[field] ?? null]));
  }

  tally(query: AnyQuery): Tallied {
    const prepared = this.#of(query.table.name);
    const { table } = prepared;
    const { sum } = query;
    if (sum !== undefined && fieldNamed(table, sum).kind !== "amount") {
      throw new TypeError(`${table.name}: ${sum} is no amount`);
    }
    const selection = selectionOf(table, query);
    const shape = [shapeOf(query.index, selection), sum ?? ""].join();
    const known = prepared.tallies.get(shape);
    const tallied = known ?? this.#connection.prepare(tallyStatement(this.#any, table, selection, sum));
    if (known === undefined) prepared.tallies.set(shape, tallied);
    const values = valuesOf(selection);
    if (sum === undefined) return { count: tallied.get(values)?.count ?? 0, total: 0n };
    const rows = tallied.all(values);
    return { count: rows.length, total: rows.reduce((total, { part }) => total + BigInt(part ?? 0), 0n) };
  }

  /** Within a commit; false when the write is refused. */
  write(change: AnyWrite): boolean {
    const prepared = this.#of(change.table);
    if ("insert" in change) return insert(prepared, change);
    return "set" in change ? this.#update(prepared, change) : isAsExpected(prepared, change);
  }

  #update(prepared: PreparedTable, { id, set, expectedVersion }: AnyUpdate): boolean {
    const { table, updates } = prepared;
    if (table.appendOnly) throw new TypeError(`rows of ${table.name} are never changed`);
    const grows = "version" in table.columns;
    const expected = expectedVersion !== undefined;
    if (expected && !grows) throw new TypeError(`${table.name} has no version`);
    const changes = encodeChanges(table, set as object);
    const fields = Object.keys(changes);
    const shape = [expected, ...fields].join();
    const update =
      updates.get(shape) ??
      this.#connection.prepare(updateStatement(this.#any, table, fields, { grows, expected }));
    updates.set(shape, update);
    try {
      return update.run({ ...changes, $key: id, $version: expectedVersion ?? null }) === 1;
    } catch (error) {
      if (isTaken(error)) return false;
      throw error;
    }
  }

  #of(name: string): PreparedTable {
    const table = this.#tables.get(name);
    if (table === undefined) throw new NotInstalled(name);
    return table;
  }
}

function insert(prepared: PreparedTable, { insert: record, atMost }: AnyInsert): boolean {
  const row = encodeRow(prepared.table, record as object);
  return (
    (atMost === undefined || hasRoom(prepared, row, atMost)) && prepared.statements.insert.run(row) === 1
  );
}

function isAsExpected({ table, statements }: PreparedTable, expectation: AnyExpectation): boolean {
  const { id, expectVersion } = expectation;
  if (!("version" in table.columns)) throw new TypeError(`${table.name} has no version`);
  return Number(statements.get.get({ key: id })?.["version"] ?? 0) === expectVersion;
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

/** Looks under the write lock of the commit, so that nobody comes between the look and the insert. */
function hasRoom(
  { table, count, forget, parts }: PreparedTable,
  row: AnyRow,
  atMost: NonNullable<AnyInsert["atMost"]>,
): boolean {
  const { since = -Infinity } = atMost;
  if (!("total" in atMost)) {
    if (count === null) throw new TypeError(`atMost: ${table.name} has no group`);
    forget?.run({ since, ...row });
    return (count.get({ since, ...row })?.count ?? 0) < atMost.count;
  }
  const sum = table.group?.sum;
  if (parts === null || sum === undefined) {
    throw new TypeError(`atMost: the group of ${table.name} has no sum`);
  }
  forget?.run({ since, ...row });
  if (atMost.total === null) return true;
  // Added here and not by SQLite, whose integers end at 2^63 and whose other numbers are not exact.
  const others = parts.all({ since, ...row }).reduce((total, { part }) => total + BigInt(part), 0n);
  return others + BigInt(String(row[sum])) <= atMost.total;
}
