/** Kysely over a database file, for migrations: it looks at the names of tables alone. */
import { Kysely, SqliteDialect, SqliteIntrospector, type TableMetadata } from "kysely";
import { sqliteSchema } from "../sql/migrations/dialect.ts";
import type { SqliteDatabase } from "./driver.ts";

/**
 * Kysely's own list describes the columns of everything, which fails at a view of the host that SQLite cannot resolve:
 * over a table that is gone, or with a function or a module that only the host has.
 */
class NamesAlone extends SqliteIntrospector {
  readonly #db: Kysely<unknown>;

  constructor(db: Kysely<unknown>) {
    super(db);
    this.#db = db;
  }

  override async getTables(): Promise<TableMetadata[]> {
    const { rows } = await sqliteSchema.tableNames().execute(this.#db);
    return rows.map(({ name }) => ({ name, isView: false, columns: [] }));
  }
}

class SchemaDialect extends SqliteDialect {
  override createIntrospector(db: Kysely<unknown>): NamesAlone {
    return new NamesAlone(db);
  }
}

export const schemaIn = (database: SqliteDatabase): Kysely<unknown> =>
  new Kysely<unknown>({ dialect: new SchemaDialect({ database }) });
