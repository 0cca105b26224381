/** Where the databases differ in a schema: the types of columns and the options of tables. */
import { type CreateTableBuilder, type Kysely, sql } from "kysely";
import { kindOf } from "../../row.ts";
import type { Column, ColumnKind } from "../../table.ts";

type Columns = Readonly<Record<string, Column>>;

/** A database's way to create tables. */
export interface SchemaDialect {
  createTable(db: Kysely<unknown>, table: string, columns: Columns, key: readonly string[]): Promise<void>;
  /** A table with a column `seq` that grows with every row, and a unique `id`. */
  createSequencedTable(db: Kysely<unknown>, table: string, columns: Columns): Promise<void>;
}

const sqliteTypes: { readonly [K in ColumnKind]: "text" | "integer" | "blob" } = {
  text: "text",
  integer: "integer",
  amount: "text",
  boolean: "integer",
  bytes: "blob",
  json: "text",
};

/** The type of a column of this kind. */
export const columnType = (kind: ColumnKind): string => sqliteTypes[kind];

/** A table that is going to be created with these columns. */
export function withColumns<S>(
  db: Kysely<S>,
  table: string,
  columns: Columns,
): CreateTableBuilder<string, string> {
  let builder: CreateTableBuilder<string, string> = db.schema.createTable(table);
  for (const [name, column] of Object.entries(columns)) {
    const { kind, nullable } = kindOf(column);
    builder = builder.addColumn(name, sqliteTypes[kind], (definition) =>
      nullable ? definition : definition.notNull(),
    );
  }
  return builder;
}

/** Strict, so that SQLite holds to the types; clustered by their key where it is not a single id. */
export const sqliteSchema: SchemaDialect = {
  async createTable(db, table, columns, key) {
    await withColumns(db, table, columns)
      .addPrimaryKeyConstraint(`${table}_key`, [...key])
      .modifyEnd(key.length > 1 ? sql`strict, without rowid` : sql`strict`)
      .execute();
  },
  async createSequencedTable(db, table, columns) {
    await withColumns(db, table, columns)
      .addColumn("seq", "integer", (definition) => definition.primaryKey())
      .addUniqueConstraint(`${table}_key`, ["id"])
      .modifyEnd(sql`strict`)
      .execute();
  },
};
