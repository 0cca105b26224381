/** The statements that create and migrate the caller's tables. */
import { type Kysely, sql } from "kysely";
import type { Definition } from "../install-plan.ts";
import { fieldNamed } from "../query.ts";
import type { AnyTable, Index, Migration } from "../table.ts";
import { encodeValue } from "./codecs.ts";
import type { SchemaDialect } from "./migrations/dialect.ts";
import type { Schema } from "./schema.ts";
import { statement } from "./statement.ts";
import { indexConditions, mayBeNull } from "./table-statements.ts";

/** What is kept of every installed table. */
export function installedStatements(db: Kysely<Schema>) {
  return {
    installed: statement<{ name: string }>()(({ name }) =>
      db.selectFrom("paystateTables").selectAll().where("name", "=", name),
    ),
    record: statement<Schema["paystateTables"]>()(({ name, definition, migrations }) =>
      db
        .insertInto("paystateTables")
        .values({ name, definition, migrations })
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ definition, migrations })),
    ),
  };
}

/** Creates a table with a column for the order in which its rows are inserted. */
export function creation(db: Kysely<Schema>, table: AnyTable, dialect: SchemaDialect): readonly string[] {
  const { name, columns, key } = table;
  const create = dialect.sequencedTable(db as unknown as Kysely<unknown>, name, { columns, key: [key] });
  return [create.compile().sql, ...indexing(db, table, dialect)];
}

/** What changes a table: the migrations, what it was before, and for which database. */
export interface TableChange {
  readonly steps: readonly Migration[];
  readonly before: Definition;
  readonly dialect: SchemaDialect;
}

/** Carries out migrations. Indexes go before the columns do, and come back when these are as they shall be. */
export function migration(
  db: Kysely<Schema>,
  table: AnyTable,
  { steps, before, dialect }: TableChange,
): readonly string[] {
  const indexes = [
    ...Object.keys(before.indexes).map((index) => indexName(table.name, index)),
    ...before.unique.map((field) => uniqueName(table.name, field)),
  ];
  const present = new Set(Object.keys(before.columns));
  const changes = steps.flatMap(({ add = {}, drop = [] }, at) => {
    const dropped = drop.filter((field) => present.delete(field));
    const isKept = (field: string): boolean =>
      field in table.columns && steps.slice(at + 1).every((later) => !(later.drop ?? []).includes(field));
    const added = Object.entries(add).filter(([field]) => isKept(field));
    for (const [field] of added) present.add(field);
    return [
      ...dropped.map((field) => sql`alter table ${sql.table(table.name)} drop column ${sql.ref(field)}`),
      ...added.map((column) => adding(table, column, dialect)),
    ].map((change) => change.compile(db).sql);
  });
  return [
    ...indexes.map((index) => db.schema.dropIndex(index).compile().sql),
    ...changes,
    ...indexing(db, table, dialect),
  ];
}

function adding(table: AnyTable, [name, value]: readonly [string, unknown], { types }: SchemaDialect) {
  const field = fieldNamed(table, name);
  const literal = encodeValue(field, value);
  if (literal instanceof Uint8Array) {
    throw new TypeError(`${table.name}: ${name} cannot be added with bytes in the rows of before`);
  }
  const rule = field.nullable ? sql`` : sql` not null`;
  return sql`alter table ${sql.table(table.name)} add column ${sql.ref(name)} ${sql.raw(types[field.kind])}${rule} default ${sql.lit(literal)}`;
}

function indexing(db: Kysely<Schema>, table: AnyTable, dialect: SchemaDialect): readonly string[] {
  const { name, indexes, unique } = table;
  return [
    ...unique.map((field) => {
      const on = columnsOfIndex(table, { on: [field], where: {}, present: [] }, dialect);
      return db.schema.createIndex(uniqueName(name, field)).unique().on(name).expression(on).compile().sql;
    }),
    ...Object.entries(indexes).map(([index, parts]) => {
      const create = db.schema.createIndex(indexName(name, index)).on(name);
      const columns = create.expression(columnsOfIndex(table, parts, dialect));
      const conditions = indexConditions(table, parts);
      if (conditions.length === 0) return columns.compile().sql;
      return columns.where(sql<boolean>`${sql.join([...conditions], sql` and `)}`).compile().sql;
    }),
  ];
}

/** In the order of reads, where null stands before all values. */
function columnsOfIndex(table: AnyTable, index: Index, { nullsFirst }: SchemaDialect) {
  return sql.join(
    index.on.map((name) => {
      const order = mayBeNull(fieldNamed(table, name), index) ? nullsFirst : sql``;
      return sql`${sql.ref(name)}${order}`;
    }),
  );
}

/** PostgreSQL cuts names off here, and two that begin alike would be one. */
const MAX_NAME = 63;

const indexName = (table: string, index: string): string => shortened(`${table}_by_${index}`);
const uniqueName = (table: string, field: string): string => shortened(`${table}_unique_${field}`);

function shortened(name: string): string {
  if (name.length <= MAX_NAME) return name;
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 2 ** 32;
  return `${name.slice(0, MAX_NAME - 9)}_${sum.toString(16).padStart(8, "0")}`;
}
