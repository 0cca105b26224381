/** Where the databases differ in a schema: the types of columns, where null stands in an index, the options of tables, and how tables are listed. */
import { type CreateTableBuilder, type Kysely, type RawBuilder, sql } from "kysely";
import { kindOf } from "../../row.ts";
import type { Column, ColumnKind } from "../../table.ts";

type Columns = Readonly<Record<string, Column>>;

type Creation = CreateTableBuilder<string, string>;

/** What makes up a table besides its name. */
export interface TableParts {
  readonly columns: Columns;
  readonly key: readonly string[];
}

/** A database's way to create tables. */
export interface SchemaDialect {
  /** The type of a column of each kind. */
  readonly types: { readonly [K in ColumnKind]: string };
  /** What an index says of a column in which null stands before all values. */
  readonly nullsFirst: RawBuilder<unknown>;
  readonly table: (db: Kysely<unknown>, name: string, parts: TableParts) => Creation;
  /** A table with a column `seq` that grows with every row, and a unique key. */
  readonly sequencedTable: (db: Kysely<unknown>, name: string, parts: TableParts) => Creation;
  /**
   * The names of the tables and views there are, in one schema where the database has several. Kysely's own list describes
   * every column of every schema: 1.6 ms for the tables of SQLite in place of 0.1.
   */
  readonly tableNames: (schema?: string) => RawBuilder<{ readonly name: string }>;
}

function withColumns(creation: Creation, columns: Columns, types: SchemaDialect["types"]): Creation {
  let builder = creation;
  for (const [name, column] of Object.entries(columns)) {
    const { kind, nullable } = kindOf(column);
    builder = builder.addColumn(name, sql.raw(types[kind]), (definition) =>
      nullable ? definition : definition.notNull(),
    );
  }
  return builder;
}

const sqliteTypes: SchemaDialect["types"] = {
  text: "text",
  integer: "integer",
  amount: "text",
  boolean: "integer",
  bytes: "blob",
  json: "text",
};

/** Strict, so that SQLite holds to the types; clustered by their key where it is not a single id. */
export const sqliteSchema: SchemaDialect = {
  types: sqliteTypes,
  nullsFirst: sql``,
  table: (db, name, { columns, key }) =>
    withColumns(db.schema.createTable(name), columns, sqliteTypes)
      .addPrimaryKeyConstraint(`${name}_key`, [...key])
      .modifyEnd(key.length > 1 ? sql`strict, without rowid` : sql`strict`),
  sequencedTable: (db, name, { columns, key }) =>
    withColumns(db.schema.createTable(name), columns, sqliteTypes)
      .addColumn("seq", "integer", (definition) => definition.primaryKey())
      .addUniqueConstraint(`${name}_key`, [...key])
      .modifyEnd(sql`strict`),
  tableNames: () => sql`select name from sqlite_master
    where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'`,
};

const postgresTypes: SchemaDialect["types"] = {
  // Compared byte by byte, in every language that a database may be set to.
  text: 'text collate "C"',
  integer: "bigint",
  // Of any size and exact, and so are their sums.
  amount: "numeric",
  boolean: "smallint",
  bytes: "bytea",
  // As text: what is read is what was written, to the byte.
  json: "text",
};

/** Rows that change often leave room in their pages, and are cleaned up before there are many dead ones. */
const KEPT_SMALL = sql`with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02)`;

export const postgresSchema: SchemaDialect = {
  types: postgresTypes,
  nullsFirst: sql` nulls first`,
  table: (db, name, { columns, key }) =>
    withColumns(db.schema.createTable(name), columns, postgresTypes)
      .addPrimaryKeyConstraint(`${name}_key`, [...key])
      .modifyEnd(KEPT_SMALL),
  sequencedTable: (db, name, { columns, key }) =>
    withColumns(db.schema.createTable(name), columns, postgresTypes)
      .addColumn("seq", "bigint", (definition) => definition.generatedAlwaysAsIdentity())
      // Their indexes are called as they are, and no table can begin with _.
      .addPrimaryKeyConstraint(`_${name}_seq`, ["seq"])
      .addUniqueConstraint(`_${name}_key`, [...key])
      .modifyEnd(KEPT_SMALL),
  // The catalogue also has tables of a schema that the role may not look into.
  tableNames: (
    schema,
  ) => sql`select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = ${schema} and relkind in ('r', 'p', 'v') and has_schema_privilege(nspname, 'USAGE')`,
};
