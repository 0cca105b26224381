/** The schema of a database file: Kysely over it, which looks at the names of tables alone, and the names of the engine's. */
import { Kysely, SqliteDialect, SqliteIntrospector, type TableMetadata } from "kysely";
import { sqliteSchema } from "../sql/migrations/dialect.ts";
import { MIGRATIONS_TABLE, PREFIXED } from "../sql/migrations/index.ts";
import { type NameOf, plainName, prefixedName } from "../sql/statement.ts";
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

/** Whether any paystate has written to the file, be it an older one. */
export const isWritten = (database: SqliteDatabase): boolean =>
  database
    .prepare("select 1 from main.sqlite_master where type = 'table' and name = ?")
    .get(MIGRATIONS_TABLE) !== undefined;

export const schemaIn = (database: SqliteDatabase): Kysely<unknown> =>
  new Kysely<unknown>({ dialect: new SchemaDialect({ database }) });

/**
 * What the file calls the engine's tables, or will, as whoever makes them notes. Names stay for ever: older programs may work
 * beside this one.
 */
export function nameOfIn(database: SqliteDatabase): NameOf {
  if (!isWritten(database)) return prefixedName;
  const noted = database.prepare(`select 1 from main."${MIGRATIONS_TABLE}" where name = ?`).get(PREFIXED);
  return noted === undefined ? plainName : prefixedName;
}
