/**
 * A table as data: columns, indexes and migrations. Every adapter installs, checks and reads tables by these
 * descriptions alone, so none of them knows what a row is about.
 */

/**
 * The kind of a field: `text`, `integer` (a safe integer, times in milliseconds among them), `amount` (a bigint of any
 * size), `boolean`, `bytes` (a Uint8Array) or `json` (what JSON holds, and bigints).
 */
export type ColumnKind = "text" | "integer" | "amount" | "boolean" | "bytes" | "json";

/** A kind, with `?` when the field may be null. */
export type Column = ColumnKind | `${ColumnKind}?`;

/** A value of a `json` field. Bigints come back as bigints. */
export type Json =
  string | number | boolean | bigint | null | readonly Json[] | { readonly [field: string]: Json };

/** Values of fields, by the kind of their column. */
export interface Values {
  readonly text: string;
  readonly integer: number;
  readonly amount: bigint;
  readonly boolean: boolean;
  readonly bytes: Uint8Array;
  readonly json: Json;
}

/** Never there; names the type that `column` gave to a column. */
declare const held: unique symbol;

/** A column whose values have a type of their own. Made by `column`. */
export type ColumnOf<V> = KindOf<V> & { readonly [held]: V };

/** The value of a column's field. */
export type FieldOf<C> = C extends { readonly [held]: infer V }
  ? V
  : C extends `${infer K extends ColumnKind}?`
    ? Values[K] | null
    : C extends ColumnKind
      ? Values[C]
      : never;

/** The row that columns of these kinds hold. */
export type RowOf<C> = { readonly [F in keyof C]: FieldOf<C[F]> };

/** The kind of column that keeps values of this type. */
export type KindOf<V> = null extends V
  ? `${KindOf<NonNullable<V>>}?`
  : [V] extends [string]
    ? "text"
    : [V] extends [number]
      ? "integer"
      : [V] extends [bigint]
        ? "amount"
        : [V] extends [boolean]
          ? "boolean"
          : [V] extends [Uint8Array]
            ? "bytes"
            : "json";

/**
 * A column whose values are narrower than its kind, such as a few texts or a JSON object of a known shape. The compiler alone
 * knows of it: what a database holds is believed.
 *
 * @example
 * ```ts
 * import { column, defineTable, type Row } from "paystate/engine";
 *
 * const orders = defineTable("orders", {
 *   columns: { id: "text", state: column<"open" | "paid">("text"), tags: column<readonly string[]>("json") },
 * });
 * const order: Row<typeof orders> = { id: "o-1", state: "open", tags: ["gift"] };
 * console.log(order.state); // open
 * ```
 */
export function column<V>(kind: KindOf<V>): ColumnOf<V> {
  return kind as ColumnOf<V>;
}

/**
 * Fields by which rows are found and ordered. With `where` or `present` the index is partial: only rows with exactly
 * these values, or with a value in these fields, are in the index, which stays small in a large table.
 */
export type IndexOptions<F extends string> =
  | readonly F[]
  | {
      readonly on: readonly F[];
      readonly where?: { readonly [N in F]?: string | number | boolean | null };
      readonly present?: readonly F[];
    };

/**
 * The group of rows that `atMost` counts: equal in `by`, and newer than `since`, or with `open` still null. `sum` is
 * the amount that `atMost` adds up for a `total`: from 0, with 27 digits at most. Databases keep the totals of such groups in
 * the transaction of each change, whoever makes the change: a large group is counted as fast as a small one.
 */
export type GroupOptions<F extends string> = { readonly by: readonly F[]; readonly sum?: F } & (
  { readonly since: F } | { readonly open: F }
);

/**
 * One change to a table that may hold rows already: columns to add, with the value for existing rows, and columns to
 * drop. An empty migration stands for a change of unique fields or indexes alone.
 */
export interface Migration {
  readonly add?: { readonly [field: string]: string | number | bigint | boolean | null };
  readonly drop?: readonly string[];
  /**
   * True when programs that do not know this migration may go on using the table: added columns may be null, and are
   * null in older rows and in rows that such programs insert; nothing is dropped. Without `beside` such programs are
   * refused.
   */
  readonly beside?: boolean;
}

/** Traits of a table besides its columns. */
export interface TableOptions<F extends string> {
  /** The text field that identifies a row. Default `id`. */
  readonly key?: F;
  /** Fields that are unique besides the key; any number of rows may have null there. */
  readonly unique?: readonly F[];
  /** Indexes by name, as reads use them. Every list can also be read by `key`, and in the order of insertion. */
  readonly indexes?: { readonly [name: string]: IndexOptions<F> };
  readonly group?: GroupOptions<F>;
  /** True when rows are only added: a commit that changes a row is a mistake of its caller, and is answered `failed`. */
  readonly appendOnly?: boolean;
  /** True when a row seldom changes: a database that keeps room in pages for changes keeps none, and needs a seventh less. */
  readonly settled?: boolean;
  /**
   * Rows with equal values in these fields can be read in the order of their insertion while rows are added: a reader
   * that continues `beyond` the last row it has seen misses no row. A commit that inserts equal values waits for the commit
   * before it; with an empty list, all inserts of the table wait. Without `ordered`, a row may become visible after a row
   * that was inserted later.
   */
  readonly ordered?: readonly F[];
  /**
   * Every change since the table was first installed anywhere, in order. Columns and indexes describe the table after
   * the last migration; a released migration is never edited.
   */
  readonly migrations?: readonly Migration[];
}

/** An index with all its parts. */
export interface Index {
  readonly on: readonly string[];
  readonly where: Readonly<Record<string, string | number | boolean | null>>;
  readonly present: readonly string[];
}

/** A table without its type of rows: what adapters work with. */
export interface AnyTable extends Required<Omit<TableOptions<string>, "indexes" | "group" | "ordered">> {
  /** The name that commits write to. */
  readonly name: string;
  /** The name of the table in a database: the name, which begins with `paystate` where paystate itself declares the table. */
  readonly sqlName: string;
  readonly columns: Readonly<Record<string, Column>>;
  readonly indexes: Readonly<Record<string, Index>>;
  readonly group: GroupOptions<string> | null;
  /** Null where the order in which rows become visible does not matter. */
  readonly ordered: readonly string[] | null;
}

/** A table of rows of the type `R`. Made by `defineTable`. */
export interface Table<R> extends AnyTable {
  /** Never there; keeps the type of the rows. */
  readonly row?: R;
}

/** The rows of a table. */
export type Row<T extends AnyTable & { readonly row?: unknown }> = NonNullable<T["row"]>;

/** Tables by their names. */
export type TableSet<W> = { readonly [T in keyof W]: Table<W[T]> };

/** Names that paystate's own tables have, or that databases keep to themselves. */
const RESERVED = /^(paystate|sqlite_|pg_)/i;

/** Columns that PostgreSQL gives each table, and the column that the storage adds. */
const OWN_COLUMN = /^(seq|ctid|tableoid|[cx]m(in|ax))$/;

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,47}$/;

/** Kinds that databases compare as JavaScript does. An amount may be kept as text, which has another order. */
export const COMPARABLE: ReadonlySet<string> = new Set(["text", "integer", "boolean"]);

/**
 * Describes a table of your own, whose rows are committed together with the steps of your charts.
 *
 * A column named `version` of the kind `integer` counts the changes of its row: an insert sets the first value and
 * every update adds one.
 *
 * @throws TypeError when the description contradicts itself, naming the table and the field.
 *
 * @example
 * ```ts
 * import { createEngine, defineTable } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 *
 * const orders = defineTable("orders", {
 *   columns: { id: "text", customer: "text", total: "amount", paidAt: "integer?" },
 *   indexes: { ofCustomer: ["customer", "id"] },
 * });
 * const storage = await sqliteStorage(":memory:");
 * const engine = createEngine({ storage, tables: { orders }, workflows: [] });
 * const insert = { id: "o-1", customer: "ada", total: 2n ** 64n, paidAt: null };
 * await engine.commit({ writes: [{ table: "orders", insert }] });
 * console.log((await storage.find({ table: orders, key: "o-1" }))[0]?.total); // 18446744073709551616n
 * ```
 */
export function defineTable<const C extends Readonly<Record<string, Column>>>(
  name: string,
  options: { readonly columns: C } & TableOptions<keyof C & string>,
): Table<RowOf<C>> {
  if (RESERVED.test(name)) {
    refuseTable(name, "this name is the engine's or the database's own: choose another");
  }
  return describedTable(name, { ...options, sqlName: name });
}

/** Describes a table that paystate itself declares: a database calls it with a prefix, beside tables of its host. */
export function ownTable<const C extends Readonly<Record<string, Column>>>(
  name: string,
  options: { readonly columns: C } & TableOptions<keyof C & string>,
): Table<RowOf<C>> {
  const sqlName = name.startsWith("paystate")
    ? name
    : `paystate${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return describedTable(name, { ...options, sqlName });
}

function describedTable(
  name: string,
  options: Pick<AnyTable, "columns" | "sqlName"> & TableOptions<string>,
): AnyTable {
  const { key = "id", unique = [], group = null, ordered = null, migrations = [] } = options;
  const { appendOnly = false, settled = appendOnly } = options;
  const whole = Object.entries(options.indexes ?? {}).map(([index, given]) => [index, wholeIndex(given)]);
  const indexes = Object.fromEntries(whole) as AnyTable["indexes"];
  const told = { key, unique, group, ordered, migrations, appendOnly, settled, indexes };
  const table: AnyTable = { name, sqlName: options.sqlName, columns: options.columns, ...told };
  checkTable(table);
  return table;
}

function wholeIndex(given: IndexOptions<string>): Index {
  if (!("on" in given)) return { on: given, where: {}, present: [] };
  const { on, where = {}, present = [] } = given;
  return { on, where: where as Index["where"], present };
}

function refuseTable(name: string, problem: string): never {
  throw new TypeError(`defineTable(${JSON.stringify(name)}): ${problem}`);
}

function checkTable(table: AnyTable): void {
  const { name, columns, key, unique, indexes, group } = table;
  const refuse = (problem: string): never => refuseTable(name, problem);
  if (!NAME.test(name)) refuse("a name is a letter, then up to 47 letters, digits and _");
  for (const [field, kind] of Object.entries(columns)) {
    const isTaken = OWN_COLUMN.test(field);
    if (isTaken || !NAME.test(field)) refuse(`no column can be called ${JSON.stringify(field)}`);
    if (!/^(text|integer|amount|boolean|bytes|json)\??$/.test(kind)) {
      refuse(`column ${field} must be text, integer, amount, boolean, bytes or json, not ${kind}`);
    }
  }
  if (columns[key] !== "text") refuse(`its key, ${key}, must be a column of the kind text`);
  if ("version" in columns && columns["version"] !== "integer") refuse("version must be of the kind integer");
  const isComparable = (field: string): boolean => isOrdered(columns[field]);
  for (const field of unique) if (!isComparable(field)) refuse(`unique: ${field} ${NO_ORDER}`);
  for (const [index, { on, where, present }] of Object.entries(indexes)) {
    if (!NAME.test(index) || index === "key") refuse(`no index can be called ${JSON.stringify(index)}`);
    if (on.length === 0) refuse(`index ${index} has no field`);
    for (const field of [...on, ...Object.keys(where)]) {
      if (!isComparable(field)) refuse(`index ${index}: ${field} ${NO_ORDER}`);
    }
    for (const field of present) if (!(field in columns)) refuse(`index ${index}: ${field} is no column`);
  }
  for (const field of table.ordered ?? []) if (!isComparable(field)) refuse(`ordered: ${field} ${NO_ORDER}`);
  if (group !== null) checkGroup(table, group, refuse);
  checkMigrations(table, refuse);
}

const isOrdered = (kind: Column = "json"): boolean => COMPARABLE.has(kind.replace("?", ""));

const NO_ORDER = "must be a column of the kind text, integer or boolean";

function checkGroup(
  { columns }: AnyTable,
  group: GroupOptions<string>,
  refuse: (problem: string) => never,
): void {
  // A group of all rows would be one lock for the whole table.
  if (group.by.length === 0) refuse("group: by names no column");
  const limit = "since" in group ? group.since : group.open;
  for (const field of [...group.by, limit]) {
    if (!(field in columns)) refuse(`group: ${field} is no column`);
  }
  for (const field of group.by) if (!isOrdered(columns[field])) refuse(`group: ${field} ${NO_ORDER}`);
  if ("since" in group && columns[limit] !== "integer") {
    refuse(`group: ${limit} must be a column of the kind integer`);
  }
  if (group.sum !== undefined && columns[group.sum] !== "amount") {
    refuse(`group: ${group.sum} must be a column of the kind amount to be summed`);
  }
}

/** Checks migrations: columns added and not dropped again must exist, dropped columns must not. */
function checkMigrations({ columns, key, migrations }: AnyTable, refuse: (problem: string) => never): void {
  migrations.forEach(({ add = {}, drop = [], beside = false }, at) => {
    if (beside && (drop.length > 0 || Object.values(add).some((value) => value !== null))) {
      refuse(
        `migrations[${at}] drops a column, or adds one with a value: older programs cannot work beside it`,
      );
    }
    const later = migrations.slice(at + 1);
    for (const [field, value] of Object.entries(add)) {
      const kind = columns[field];
      if (kind === undefined) {
        if (later.every((next) => !(next.drop ?? []).includes(field))) {
          refuse(`migrations[${at}] adds ${field}, which is no column and is never dropped`);
        }
      } else if (value === null && !kind.endsWith("?")) {
        refuse(`migrations[${at}] gives ${field} null in the rows that are there, and its column takes none`);
      }
    }
    for (const field of drop) {
      if (field === key) refuse(`migrations[${at}] drops the key`);
      if (field in columns && later.every((next) => !(field in (next.add ?? {})))) {
        refuse(`migrations[${at}] drops ${field}, which is still a column`);
      }
    }
  });
}
