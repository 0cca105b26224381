/** The statements that create and migrate the caller's tables. */
import { type Kysely, sql } from "kysely";
import type { Definition } from "../install-plan.ts";
import { fieldNamed } from "../query.ts";
import type { AnyTable, Index, Migration } from "../table.ts";
import { encodeValue } from "./codecs.ts";
import { columnType, withColumns } from "./migrations/dialect.ts";
import type { Schema } from "./schema.ts";
import { statement } from "./statement.ts";
import { indexConditions } from "./table-statements.ts";

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

/** Creates a table: strict, and with a column for the order in which its rows are inserted. */
export function creation(db: Kysely<Schema>, table: AnyTable): readonly string[] {
  const create = withColumns(db, table.name, table.columns)
    .addColumn("seq", "integer", (definition) => definition.primaryKey())
    .addUniqueConstraint(`${table.name}_key`, [table.key])
    .modifyEnd(sql`strict`)
    .compile().sql;
  return [create, ...indexing(db, table)];
}

/** Carries out migrations. Indexes go before the columns do, and come back when these are as they shall be. */
export function migration(
  db: Kysely<Schema>,
  table: AnyTable,
  { steps, before }: { readonly steps: readonly Migration[]; readonly before: Definition },
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
      ...added.map(([field, value]) => adding(table, field, value)),
    ].map((change) => change.compile(db).sql);
  });
  return [
    ...indexes.map((index) => db.schema.dropIndex(index).compile().sql),
    ...changes,
    ...indexing(db, table),
  ];
}

function adding(table: AnyTable, name: string, value: unknown) {
  const field = fieldNamed(table, name);
  const literal = encodeValue(field, value);
  if (literal instanceof Uint8Array) {
    throw new TypeError(`${table.name}: ${name} cannot be added with bytes in the rows of before`);
  }
  const rule = field.nullable ? sql`` : sql` not null`;
  return sql`alter table ${sql.table(table.name)} add column ${sql.ref(name)} ${sql.raw(columnType(field.kind))}${rule} default ${sql.lit(literal)}`;
}

function indexing(db: Kysely<Schema>, table: AnyTable): readonly string[] {
  const { name, indexes, unique } = table;
  return [
    ...unique.map(
      (field) => db.schema.createIndex(uniqueName(name, field)).unique().on(name).column(field).compile().sql,
    ),
    ...Object.entries(indexes).map(([index, parts]) => creationOf(db, table, index, parts)),
  ];
}

function creationOf(db: Kysely<Schema>, table: AnyTable, index: string, parts: Index): string {
  const create = db.schema
    .createIndex(indexName(table.name, index))
    .on(table.name)
    .columns([...parts.on]);
  const conditions = indexConditions(table, parts);
  if (conditions.length === 0) return create.compile().sql;
  return create.where(sql<boolean>`${sql.join([...conditions], sql` and `)}`).compile().sql;
}

const indexName = (table: string, index: string): string => `${table}_by_${index}`;
const uniqueName = (table: string, field: string): string => `${table}_unique_${field}`;
