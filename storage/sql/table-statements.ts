/** The statements on the caller's tables, made from the description of each table. */
import { type Kysely, type RawBuilder, sql } from "kysely";
import { fieldNamed, isTotal, type Selection } from "../query.ts";
import { columnsOf, type Field } from "../row.ts";
import type { AnyTable, Index } from "../table.ts";
import { encodeValue } from "./codecs.ts";
import type { SqlValue } from "./schema.ts";
import { pick, type Statement, statement } from "./statement.ts";

/** Any of the tables: what it holds is known to its description, not to the compiler. */
export type AnyRow = Record<string, SqlValue>;
export type AnySchema = Record<string, AnyRow>;

export interface TableStatements {
  readonly insert: Statement<AnyRow, unknown>;
  readonly get: Statement<{ key: string }, AnyRow>;
  /** How many rows of the group there are; and for a window, how to drop those that have left it. */
  readonly count: Statement<AnyRow, { count: number }> | null;
  readonly forget: Statement<AnyRow, unknown> | null;
  /** What the rows of the group say of the field that is summed. */
  readonly parts: Statement<AnyRow, { part: string }> | null;
}

export function tableStatements(db: Kysely<AnySchema>, table: AnyTable): TableStatements {
  const { name } = table;
  const insert = statement<AnyRow>()((row) =>
    db
      .insertInto(name)
      .values(pick(row, columnsOf(table)))
      .onConflict((conflict) => conflict.doNothing()),
  );
  const get = statement<{ key: string }>()(({ key }) =>
    db.selectFrom(name).selectAll().where(table.key, "=", key),
  );
  return { insert, get, ...groupStatements(db, table) };
}

function groupStatements(
  db: Kysely<AnySchema>,
  table: AnyTable,
): Pick<TableStatements, "count" | "forget" | "parts"> {
  const { name, group } = table;
  if (group === null) return { count: null, forget: null, parts: null };
  const isMember = (row: AnyRow) =>
    sql.join(
      group.by.map((field) =>
        // What is null equals nothing, and is one value to a group.
        fieldNamed(table, field).nullable
          ? sql`${sql.ref(field)} is not distinct from ${row[field]}`
          : sql`${sql.ref(field)} = ${row[field]}`,
      ),
      sql` and `,
    );
  const counted = (row: AnyRow) =>
    "open" in group
      ? sql`${sql.ref(group.open)} is null`
      : sql`${sql.ref(group.since)} > ${row[valueName.since]}`;
  const count = statement<AnyRow>()((row) =>
    db
      .selectFrom(name)
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where(sql<boolean>`${isMember(row)} and ${counted(row)}`),
  );
  const { sum } = group;
  const parts =
    sum === undefined
      ? null
      : statement<AnyRow>()((row) =>
          db
            .selectFrom(name)
            .select(sql<string>`${sql.ref(sum)}`.as("part"))
            .where(sql<boolean>`${isMember(row)} and ${counted(row)}`),
        );
  if ("open" in group) return { count, forget: null, parts };
  const forget = statement<AnyRow>()((row) =>
    db
      .deleteFrom(name)
      .where(sql<boolean>`${isMember(row)} and ${sql.ref(group.since)} <= ${row[valueName.since]}`),
  );
  return { count, forget, parts };
}

/** How a statement tells the time: the given value, or the database's own clock. */
export type Now = (given: SqlValue | undefined) => RawBuilder<unknown>;

/** Which fields are set, what becomes of the version, and which field has to be unexpired. */
export interface FieldUpdate {
  readonly fields: readonly string[];
  readonly grows: boolean;
  readonly expected: boolean;
  readonly unexpired: string | null;
  readonly now: Now;
}

/** Sets these fields of one row; its version grows where it has one, and is compared where one is expected. */
export function updateStatement(
  db: Kysely<AnySchema>,
  { name, key }: AnyTable,
  { fields, grows, expected, unexpired, now }: FieldUpdate,
): Statement<AnyRow, unknown> {
  return statement<AnyRow>()((row) => {
    const version = grows ? { version: sql<number>`version + 1` } : {};
    // A row of a table without versions may be touched without a change, only to see that it is there. Else the key is not
    // named: a database that writes it, though unchanged, writes every index that holds it.
    const touched = fields.length === 0 && !grows ? { [key]: sql<string>`${sql.ref(key)}` } : {};
    const set = { ...touched, ...pick(row, fields), ...version };
    const update = db
      .updateTable(name)
      .set(set)
      .where(key, "=", row["$key"] ?? null);
    const checked = expected ? update.where("version", "=", row["$version"] ?? null) : update;
    if (unexpired === null) return checked;
    return checked.where(sql<boolean>`${sql.ref(unexpired)} > ${now(row[valueName.now])}`);
  });
}

/** A field that a removal expects a value of, or expects to have none. */
export interface ExpectedField {
  readonly name: string;
  readonly isNull: boolean;
}

/** Removes one row that has the expected values. */
export function removalStatement(
  db: Kysely<AnySchema>,
  { name, key }: AnyTable,
  expected: readonly ExpectedField[],
): Statement<AnyRow, unknown> {
  return statement<AnyRow>()((row) => {
    const conditions = expected.map((field) =>
      field.isNull ? sql`${sql.ref(field.name)} is null` : sql`${sql.ref(field.name)} = ${row[field.name]}`,
    );
    const all = [sql`${sql.ref(key)} = ${row["$key"]}`, ...conditions];
    return db.deleteFrom(name).where(sql<boolean>`${sql.join(all, sql` and `)}`);
  });
}

/** The order in which rows were inserted: a column that every table of a caller has. */
const SEQ = "seq";

/** How far a read goes, and in which direction. */
export interface Extent {
  readonly order: "asc" | "desc";
  readonly limited: boolean;
  /** It begins behind a row whose place is known to the last field. */
  readonly beyond: boolean;
}

/** The name that a value has in a statement where it is not the one of its field. No field can be called so. */
export const valueName = {
  /** Rows that are as old have left the window. */
  since: "$since",
  /** The time by which a row is unexpired. */
  now: "$now",
  equal: (field: string): string => `equal ${field}`,
  after: (field: string): string => `after ${field}`,
  /** The key of the row that a read begins behind. */
  beyond: "$beyond",
};

/** A field that orders rows. */
interface PlaceField {
  readonly name: string;
  /** What stands for a value where the field has none; null where each row has a value. */
  readonly empty: "" | 0 | null;
}

/** The fields that tell apart all rows of a selection, in their order. */
const placeFields = (table: AnyTable, selection: Selection): readonly PlaceField[] => {
  const { index, order } = selection;
  const fields = order.map((field): PlaceField => {
    const { name, kind } = field;
    if (!mayBeNull(field, index)) return { name, empty: null };
    return { name, empty: kind === "text" ? "" : 0 };
  });
  return isTotal(table, selection) ? fields : [...fields, { name: SEQ, empty: null }];
};

/** Whether rows of an index may have no value in this field. */
export const mayBeNull = ({ name, nullable }: Field, { where, present }: Index): boolean =>
  nullable && !present.includes(name) && (where[name] ?? null) === null;

/** Which rows are read, and how far. */
export interface SelectedRows {
  readonly selection: Selection;
  readonly extent: Extent;
}

/** The rows of a selection in their order. */
export function findStatement(
  db: Kysely<AnySchema>,
  table: AnyTable,
  { selection, extent }: SelectedRows,
): Statement<AnyRow, AnyRow> {
  const { order, limited, beyond } = extent;
  const place = placeFields(table, selection);
  const after = beyond ? [] : selection.after.map(([{ name }]) => name);
  const way = sql.raw(order);
  // Null stands before all values, which databases see differently.
  const nulls = sql.raw(order === "asc" ? " nulls first" : " nulls last");
  const ordered = sql.join(
    place.map(({ name, empty }) => sql`${sql.ref(name)} ${way}${empty === null ? sql`` : nulls}`),
  );
  return statement<AnyRow>()((given) => {
    const conditions = isSelected(table, selection, given);
    const all = [
      ...conditions,
      ...(after.length === 0 ? [] : [isAfter(after, order, given)]),
      ...(beyond ? [isBeyond(table, { place, order, among: conditions }, given)] : []),
    ];
    const where = all.length === 0 ? sql`` : sql` where ${sql.join(all, sql` and `)}`;
    const limit = limited ? sql` limit ${given["limit"]}` : sql``;
    return compiled(db, sql`select * from ${sql.table(table.name)}${where} order by ${ordered}${limit}`);
  });
}

/** Which rows are counted, or which of their fields is added up. */
export interface TalliedRows {
  readonly selection: Selection;
  readonly sum: string | undefined;
}

/** How many rows a selection has, or one field of each of them. */
export function tallyStatement(
  db: Kysely<AnySchema>,
  table: AnyTable,
  { selection, sum }: TalliedRows,
): Statement<AnyRow, { count?: number; part?: string | null }> {
  const after = selection.after.map(([{ name }]) => name);
  const what = sum === undefined ? sql`count(*) as "count"` : sql`${sql.ref(sum)} as "part"`;
  return statement<AnyRow>()((given) => {
    const conditions = isSelected(table, selection, given);
    const all = after.length === 0 ? conditions : [...conditions, isAfter(after, "asc", given)];
    const where = all.length === 0 ? sql`` : sql` where ${sql.join(all, sql` and `)}`;
    return compiled(db, sql`select ${what} from ${sql.table(table.name)}${where}`);
  });
}

const compiled = <Row>(db: Kysely<AnySchema>, query: RawBuilder<unknown>) => ({
  compile: () => query.compile(db) as ReturnType<RawBuilder<Row>["compile"]>,
  execute: () => query.execute(db) as never,
});

function isSelected(
  table: AnyTable,
  { index, equals }: Selection,
  given: AnyRow,
): readonly RawBuilder<unknown>[] {
  const equal = equals.map(([{ name }, value]) =>
    value === null ? sql`${sql.ref(name)} is null` : sql`${sql.ref(name)} = ${given[valueName.equal(name)]}`,
  );
  return [...indexConditions(table, index), ...equal];
}

/** Compared as tuples, so that an index over all of them is searched and not walked. */
function isAfter(fields: readonly string[], order: "asc" | "desc", given: AnyRow): RawBuilder<unknown> {
  const sign = sql.raw(order === "asc" ? ">" : "<");
  const columns = sql.join(fields.map((field) => sql.ref(field)));
  const values = sql.join(fields.map((field) => sql`${given[valueName.after(field)]}`));
  return fields.length === 1 ? sql`${columns} ${sign} ${values}` : sql`(${columns}) ${sign} (${values})`;
}

/** Behind the row with a key, in one statement with it; behind none when that row is not among those looked through. */
function isBeyond(
  { name, key }: AnyTable,
  {
    place,
    order,
    among,
  }: { readonly place: readonly PlaceField[]; readonly order: Extent["order"]; readonly among: Conditions },
  given: AnyRow,
): RawBuilder<unknown> {
  const sign = sql.raw(order === "asc" ? ">" : "<");
  const columns = sql.join(place.map(compared));
  const isIt = sql.join([sql`${sql.ref(key)} = ${given[valueName.beyond]}`, ...among], sql` and `);
  const row = sql`(select ${columns} from ${sql.table(name)} where ${isIt})`;
  return place.length === 1 ? sql`${columns} ${sign} ${row}` : sql`(${columns}) ${sign} ${row}`;
}

/** As part of a tuple. What is null compares with nothing, so whether there is a value comes before the value. */
const compared = ({ name, empty }: PlaceField): RawBuilder<unknown> =>
  empty === null
    ? sql.ref(name)
    : sql`${sql.ref(name)} is not null, coalesce(${sql.ref(name)}, ${sql.lit(empty)})`;

type Conditions = readonly RawBuilder<unknown>[];

/** What only rows of an index are, with literals: a database uses such an index only where it sees them. */
export function indexConditions(table: AnyTable, { where, present }: Index): readonly RawBuilder<unknown>[] {
  return [
    ...Object.entries(where).map(([field, value]) =>
      value === null
        ? sql`${sql.ref(field)} is null`
        : sql`${sql.ref(field)} = ${sql.lit(encodeValue(fieldNamed(table, field), value))}`,
    ),
    ...present.map((field) => sql`${sql.ref(field)} is not null`),
  ];
}
