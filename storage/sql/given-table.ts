/** SQL for one of the caller's tables: statements for reads and writes, made from the table's description. */
import { type AnyQuery, fieldNamed, selectionOf, type SelectionQuery } from "../query.ts";
import { assertReplaceable, checkExpected, expectedFields } from "../expected-fields.ts";
import { columnsOf, type Field } from "../row.ts";
import type {
  AnyExpectation,
  AnyInsert,
  AnyPut,
  AnyRemoval,
  AnyUpdate,
  AnyWrite,
  GroupLimit,
} from "../storage.ts";
import type { AnyTable, GroupOptions, Index } from "../table.ts";
import { encodeChanges, encodeRow, encodeValue } from "./codecs.ts";
import { type GroupTotals, groupTotals, membersOf, type TotalRow } from "./group-totals.ts";
import type { SchemaDialect } from "./dialect.ts";
import {
  type AnyRow,
  assigned,
  type BoundStatement,
  insertInto,
  listed,
  quoted,
  type SqlValue,
} from "./statement.ts";

/** The order in which rows were inserted: a column that every table of a caller has. */
const SEQ = "seq";

/** Names of values that are no fields of the row. No field can have such a name. */
export const valueName = {
  key: "$key",
  version: "$version",
  /** Rows that are as old have left the window. */
  since: "$since",
  /** The time by which a row is unexpired. */
  now: "$now",
  /** The key of the row that a read begins behind. */
  beyond: "$beyond",
  limit: "$limit",
  /** JSON text of a list. */
  anyOf: "$anyOf",
  equal: (field: string): string => `equal ${field}`,
  after: (field: string): string => `after ${field}`,
};

/** The name of a field's value in one of several rows. */
const ofRow = (field: string, at: number): string => `${field} ${at}`;

export const valueOf = (name: string): string => `{${name}}`;

/**
 * A write, as it is carried out: refused unless this many rows are changed, or found by a write that only expects them. One
 * without a number is never refused.
 */
interface PreparedWrite extends BoundStatement {
  readonly rows?: 0 | 1;
  /** Before an insert: refused, too, where its group has no room for it. */
  readonly room?: GroupLimitCheck;
}

/** The room that the group of a row has for it. */
export interface GroupLimitCheck {
  /** Removes the rows that have left the window; null where there is none. */
  readonly forget: BoundStatement | null;
  readonly counted: BoundStatement<TotalRow>;
  /** Whether the sum of the counted rows is limited, and not their number. */
  readonly isSum: boolean;
  /** The change of the totals by the row. */
  readonly plus: bigint;
  /** Null where nothing is refused. */
  readonly most: bigint | number | null;
}

/** An amount to be summed, as it lies in its column. */
export interface Part {
  readonly part: string | null;
}

/** The parts of a statement that differ by database. */
export interface TableDialect {
  /** The time: the given value, or the database's own clock. */
  readonly now: string;
  /** Begins a condition that a field has one of the values of `valueName.anyOf`. */
  readonly isAnyOf: string;
  /** A list as JSON text that the database can read. */
  readonly json: (list: readonly string[]) => string;
  readonly schema: Pick<SchemaDialect, "totals">;
}

export class GivenTable {
  readonly table: AnyTable;
  /** Null where none are kept. */
  readonly totals: GroupTotals | null;
  readonly #dialect: TableDialect;
  /** Statement texts by their shape: as many as there are places in the code. */
  readonly #texts = new Map<string, string>();

  constructor(table: AnyTable, dialect: TableDialect) {
    this.table = table;
    this.totals = groupTotals(table, dialect.schema.totals);
    this.#dialect = dialect;
  }

  get(key: string): BoundStatement<AnyRow> {
    const { sqlName, key: field } = this.table;
    const text = this.#once("get", () => `select * from ${quoted(sqlName)} where ${isKey(field)}`);
    return { text, values: { [valueName.key]: key }, isNamed: true };
  }

  /**
   * The rows of a selection in their order.
   * @throws TypeError when the index does not exist, or a value does not fit its field.
   */
  find(query: AnyQuery): BoundStatement<AnyRow> {
    const { table } = this;
    const { order = "asc", limit, beyond } = query;
    const selection = selectionOf(table, query);
    const place = placeFields(table, selection);
    const among = this.#conditionsOf(selection);
    const after = beyond === undefined ? isAfter(selection, order) : [this.#isBeyond(place, among, order)];
    // Null stands before all values, which databases see differently.
    const nulls = order === "asc" ? " nulls first" : " nulls last";
    const ordered = place.map(({ name, empty }) => `${quoted(name)} ${order}${empty === null ? "" : nulls}`);
    const bounds = limit === undefined ? "" : ` limit ${valueOf(valueName.limit)}`;
    const rows = `${quoted(table.sqlName)}${where([...among, ...after])}`;
    const text = `select * from ${rows} order by ${ordered.join(", ")}${bounds}`;
    const extent = { [valueName.limit]: limit ?? null, [valueName.beyond]: beyond ?? null };
    return { text, values: { ...this.#valuesOf(selection), ...extent }, isNamed: isNamed(table, selection) };
  }

  /** The condition for rows behind the row with a key; no row matches when that row would not be found itself. */
  #isBeyond(place: readonly PlaceField[], among: readonly string[], order: "asc" | "desc"): string {
    const { sqlName, key } = this.table;
    const columns = place.map(compared).join(", ");
    const isIt = where([`${quoted(key)} = ${valueOf(valueName.beyond)}`, ...among]);
    return `(${columns}) ${beyondSign(order)} (select ${columns} from ${quoted(sqlName)}${isIt})`;
  }

  /** How many rows there are. */
  count(query: AnyQuery): BoundStatement<TotalRow> {
    return this.#among(query, `count(*) as "count"`);
  }

  /** The kept total that answers a read: of the rows of a group that count. Null where the read asks for others. */
  total(query: AnyQuery): BoundStatement<TotalRow> | null {
    const { group } = this.table;
    if (this.totals === null || group === null || ![undefined, group.sum].includes(query.sum)) return null;
    const selection = selectionOf(this.table, query);
    if (query.anyOf !== undefined || !isOfGroup(selection, group)) return null;
    const [begin] = selection.after;
    const since = begin === undefined ? null : valueOf(valueName.after(begin[0].name));
    const text = this.totals.sum((field) => valueOf(valueName.equal(field)), since);
    return { text, values: this.#valuesOf(selection), isNamed: true };
  }

  /** The statements that count the totals of a read's group anew; null where the read asks for no total. */
  mending(query: AnyQuery): readonly BoundStatement[] | null {
    const kept = this.total(query);
    if (this.totals === null || kept === null) return null;
    const { values } = kept;
    return this.totals.counting((field) => valueOf(valueName.equal(field))).map((text) => ({ text, values }));
  }

  /** One field of each row. */
  parts(query: AnyQuery, field: string): BoundStatement<Part> {
    return this.#among(query, `${quoted(field)} as "part"`);
  }

  #among(query: AnyQuery, what: string): BoundStatement<never> {
    const selection = selectionOf(this.table, query);
    const conditions = [...this.#conditionsOf(selection), ...isAfter(selection, "asc")];
    const text = `select ${what} from ${quoted(this.table.sqlName)}${where(conditions)}`;
    return { text, values: this.#valuesOf(selection) };
  }

  #conditionsOf({ index, equals, anyOf }: SelectionQuery): readonly string[] {
    return [
      ...indexConditions(this.table, index),
      ...equals.map(([{ name }, value]) => isEqual(name, value, valueOf(valueName.equal(name)))),
      ...(anyOf === null ? [] : [`${quoted(anyOf.field)} ${this.#dialect.isAnyOf}`]),
    ];
  }

  #valuesOf({ equals, anyOf, after }: SelectionQuery): AnyRow {
    const values: AnyRow = anyOf === null ? {} : { [valueName.anyOf]: this.#dialect.json(anyOf.values) };
    for (const [field, value] of equals) values[valueName.equal(field.name)] = encodeValue(field, value);
    for (const [field, value] of after) values[valueName.after(field.name)] = encodeValue(field, value);
    return values;
  }

  /** @throws TypeError when the write is wrong for the table. */
  write(write: AnyWrite): PreparedWrite {
    if ("insert" in write) return this.#insert(write);
    if ("remove" in write) return this.#removal(write);
    if ("put" in write) return this.#put(write);
    if ("unput" in write) {
      const { text, values } = this.#removal({ table: write.table, remove: write.unput });
      return { text, values };
    }
    return "set" in write ? this.#update(write) : this.#expected(write);
  }

  #insert({ insert: record, atMost }: AnyInsert): PreparedWrite {
    const { table } = this;
    const text = this.#once(
      "insert",
      () => `${insertInto(quoted(table.sqlName), columnsOf(table))} on conflict do nothing`,
    );
    const values = encodeRow(table, record as object);
    return { text, values, rows: 1, ...(atMost && { room: this.#room(values, atMost) }) };
  }

  #put({ put: record }: AnyPut): PreparedWrite {
    const { table } = this;
    assertReplaceable(table);
    const text = this.#once("put", () => {
      const into = insertInto(quoted(table.sqlName), columnsOf(table));
      const others = columnsOf(table).filter((column) => column !== table.key);
      const sets = others.map((column) => `${quoted(column)} = excluded.${quoted(column)}`);
      return `${into} on conflict (${quoted(table.key)}) do update set ${sets.join(", ")}`;
    });
    return { text, values: encodeRow(table, record as object) };
  }

  /**
   * Inserts these rows, and answers the keys of those that could be: the others were refused.
   * @throws TypeError when a row is wrong for the table.
   */
  insertAll(records: readonly object[]): BoundStatement<AnyRow> {
    const { table } = this;
    const columns = columnsOf(table);
    const text = this.#once(`insert ${records.length}`, () => {
      const rows = records.map(
        (_, at) => `(${columns.map((column) => valueOf(ofRow(column, at))).join(", ")})`,
      );
      const into = `insert into ${quoted(table.sqlName)} (${listed(columns)}) values ${rows.join(", ")}`;
      return `${into} on conflict do nothing returning ${quoted(table.key)}`;
    });
    const values: Record<string, SqlValue> = {};
    for (const [at, record] of records.entries()) {
      const encoded = Object.entries(encodeRow(table, record));
      for (const [column, value] of encoded) values[ofRow(column, at)] = value;
    }
    return { text, values };
  }

  #room(row: AnyRow, atMost: GroupLimit): GroupLimitCheck {
    const { name, sqlName, group } = this.table;
    if (group === null) throw new TypeError(`atMost: ${name} has no group`);
    const isSum = "total" in atMost;
    if (isSum && group.sum === undefined) throw new TypeError(`atMost: the group of ${name} has no sum`);
    const isMember = membersOf(this.table, group, valueOf);
    const values = {
      ...row,
      [valueName.since]: Math.max(atMost.since ?? -Infinity, Number.MIN_SAFE_INTEGER),
    };
    const since = valueOf(valueName.since);
    const windows = (sign: string): string =>
      "open" in group
        ? ""
        : `from ${quoted(sqlName)} where ${isMember} and ${quoted(group.since)} ${sign} cast(${since} as bigint)`;
    return {
      forget: "open" in group ? null : { text: `delete ${windows("<=")}`, values },
      counted: {
        text: this.totals?.sum(valueOf, since) ?? `select count(*) as "count" ${windows(">")}`,
        values,
      },
      isSum,
      plus: isSum ? BigInt(row[group.sum ?? ""] as string) : 1n,
      most: isSum ? atMost.total : atMost.count,
    };
  }

  #update(change: AnyUpdate): PreparedWrite {
    checkExpected(this.table, change);
    const { id, set, expectedVersion, unexpired } = change;
    const { sqlName, key, columns } = this.table;
    const grows = "version" in columns;
    const changes = encodeChanges(this.table, set);
    const fields = Object.keys(changes);
    const shape = ["update", expectedVersion === undefined, unexpired?.field, ...fields].join();
    const text = this.#once(shape, () => {
      // A row of a table without versions may be touched without a change, only to check that the row exists. Otherwise
      // the key is not assigned: assigning an unchanged key makes the database write every index over the key.
      const touched = fields.length === 0 && !grows ? [`${quoted(key)} = ${quoted(key)}`] : [];
      const sets = [
        ...touched,
        ...(fields.length === 0 ? [] : [assigned(fields)]),
        ...(grows ? ["version = version + 1"] : []),
      ];
      const conditions = [
        isKey(key),
        ...(expectedVersion === undefined ? [] : [IS_VERSION]),
        ...(unexpired === undefined ? [] : [`${quoted(unexpired.field)} > ${this.#dialect.now}`]),
      ];
      return `update ${quoted(sqlName)} set ${sets.join(", ")}${where(conditions)}`;
    });
    const named = { [valueName.key]: id, [valueName.version]: expectedVersion ?? null };
    const values = { ...changes, ...named, [valueName.now]: unexpired?.now ?? null };
    return { text, values, rows: 1 };
  }

  #removal(change: AnyRemoval): PreparedWrite {
    const { sqlName, key } = this.table;
    const expected = expectedFields(this.table, change);
    const conditions = expected.map(([field, value]) => isEqual(field.name, value, valueOf(field.name)));
    const text = `delete from ${quoted(sqlName)}${where([isKey(key), ...conditions])}`;
    const values: AnyRow = { [valueName.key]: change.remove };
    for (const [field, value] of expected) values[field.name] = encodeValue(field, value);
    return { text, values, rows: 1 };
  }

  #expected(expectation: AnyExpectation): PreparedWrite {
    checkExpected(this.table, expectation);
    const { id, expectVersion } = expectation;
    const { sqlName, key } = this.table;
    const isAbsent = expectVersion === 0;
    const conditions = [isKey(key), ...(isAbsent ? [] : [IS_VERSION])];
    const text = `select 1 from ${quoted(sqlName)}${where(conditions)}`;
    const values = { [valueName.key]: id, [valueName.version]: expectVersion };
    return { text, values, rows: isAbsent ? 0 : 1 };
  }

  #once(shape: string, make: () => string): string {
    const text = this.#texts.get(shape) ?? make();
    this.#texts.set(shape, text);
    return text;
  }
}

/** Whether a read names its rows: by a list of values, or by the one value that a row has alone. */
const isNamed = ({ key, unique }: AnyTable, { anyOf, equals }: SelectionQuery): boolean =>
  anyOf !== null || equals.some(([{ name }]) => name === key || unique.includes(name));

/** Whether a read asks for all rows of a group that count. */
function isOfGroup({ index, equals, after }: SelectionQuery, group: GroupOptions<string>): boolean {
  const open = "open" in group ? group.open : null;
  const fields = equals
    .filter(([{ name }, value]) => name !== open || value !== null)
    .map(([{ name }]) => name);
  const isWhole = fields.length === group.by.length && group.by.every((field) => fields.includes(field));
  const { where: fixed, present } = index;
  const isOpen = open !== null && (equals.length > fields.length || (fixed[open] === null && open in fixed));
  const others = Object.keys(fixed).filter((field) => field !== open);
  if (!isWhole || present.length > 0 || others.length > 0) return false;
  if (open !== null) return isOpen && after.length === 0;
  return !("since" in group) || after.every(([{ name }], at) => at === 0 && name === group.since);
}

export const where = (conditions: readonly string[]): string =>
  conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`;

const IS_VERSION = `version = ${valueOf(valueName.version)}`;

const isKey = (key: string): string => `${quoted(key)} = ${valueOf(valueName.key)}`;

const isEqual = (field: string, value: unknown, place: string): string =>
  value === null ? `${quoted(field)} is null` : `${quoted(field)} = ${place}`;

/** A field that orders rows. */
interface PlaceField {
  readonly name: string;
  /** The stand-in for null in the field; null when every row has a value. */
  readonly empty: "''" | "0" | null;
}

/** The fields that tell apart all rows of a selection, in their order. */
function placeFields(table: AnyTable, selection: SelectionQuery): readonly PlaceField[] {
  const fields = selection.order.map((field): PlaceField => {
    const { name, kind } = field;
    if (!mayBeNull(field, selection.index)) return { name, empty: null };
    return { name, empty: kind === "text" ? "''" : "0" };
  });
  const isTotal = fields.some(({ name }) => name === table.key);
  return isTotal ? fields : [...fields, { name: SEQ, empty: null }];
}

/** Whether rows of an index may have null in this field. */
export const mayBeNull = ({ name, nullable }: Field, { where: fixed, present }: Index): boolean =>
  nullable && !present.includes(name) && (fixed[name] ?? null) === null;

const beyondSign = (order: "asc" | "desc"): string => (order === "asc" ? ">" : "<");

/** Compared as tuples, so that an index over all of them is searched and not walked. */
function isAfter({ after }: SelectionQuery, order: "asc" | "desc"): string[] {
  if (after.length === 0) return [];
  const fields = after.map(([{ name }]) => name);
  const values = fields.map((field) => valueOf(valueName.after(field)));
  return [`(${listed(fields)}) ${beyondSign(order)} (${values.join(", ")})`];
}

/** A field as part of a tuple. Null compares with nothing, so a flag for null comes before the value. */
const compared = ({ name, empty }: PlaceField): string =>
  empty === null ? quoted(name) : `${quoted(name)} is not null, coalesce(${quoted(name)}, ${empty})`;

/**
 * The conditions of a partial index, with literals: a database uses a partial index only when it sees its conditions.
 */
export function indexConditions(
  table: Pick<AnyTable, "name" | "columns">,
  { where: fixed, present }: Index,
): readonly string[] {
  return [
    ...Object.entries(fixed).map(([field, value]) =>
      isEqual(field, value, literalOf(encodeValue(fieldNamed(table, field), value))),
    ),
    ...present.map((field) => `${quoted(field)} is not null`),
  ];
}

/** @throws TypeError for bytes, which both databases write otherwise. */
export function literalOf(value: SqlValue): string {
  if (value instanceof Uint8Array) throw new TypeError("bytes have no literal");
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}
