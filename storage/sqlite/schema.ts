/** Kysely over a database file, for migrations: it looks at the names of tables alone. */
import { type DatabaseIntrospector, type Dialect, Kysely, SqliteDialect, type TableMetadata } from "kysely";
import { sqliteSchema } from "../sql/migrations/dialect.ts";
import type { SqliteDatabase } from "./driver.ts";

/**
 * Kysely's own list describes the columns of everything, which fails at a view of the host that SQLite cannot resolve:
 * over a table that is gone, or with a function or a module that only the host has.
 */
export function schemaIn(database: SqliteDatabase): Kysely<unknown> {
  const base = new SqliteDialect({ database });
  const dialect: Dialect = {
    createAdapter: () => base.createAdapter(),
    createDriver: () => base.createDriver(),
    createQueryCompiler: () => base.createQueryCompiler(),
    createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
      const getTables = async (): Promise<TableMetadata[]> => {
        const { rows } = await sqliteSchema.tableNames().execute(db);
        return rows.map(({ name }) => ({ name, isView: false, columns: [] }));
      };
      return {
        getSchemas: async () => [],
        getTables,
        getMetadata: async () => ({ tables: await getTables() }),
      };
    },
  };
  return new Kysely<unknown>({ dialect });
}
