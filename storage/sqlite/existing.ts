/** Opens existing database files, and tells whether paystate made them. */
import { Kysely, SqliteDialect } from "kysely";
import { sqliteSchema } from "../sql/migrations/dialect.ts";
import { assertAllKnown, isCurrent } from "../sql/migrations/index.ts";
import { inTurn } from "./connection.ts";
import { loadDriver, type OpenedDatabase, type SqliteDatabase } from "./driver.ts";
import { explained } from "./explain.ts";

/** @throws StorageUnusable where the file cannot be opened. */
export async function openExisting(
  path: string,
  options: { readonly readonly?: true } = {},
): Promise<OpenedDatabase> {
  const Driver = await loadDriver();
  try {
    return new Driver(path, { timeout: 0, fileMustExist: true, ...options });
  } catch (error) {
    throw explained(error, path);
  }
}

const over = (database: SqliteDatabase): Kysely<unknown> =>
  new Kysely<unknown>({ dialect: new SqliteDialect({ database }) });

/** Whether the file has the tables of this code. @throws StorageUnusable where it has others. */
export const isOurs = (database: SqliteDatabase): Promise<boolean> =>
  inTurn(() => isCurrent(over(database), sqliteSchema));

/** @throws StorageUnusable when a newer program has changed the file, since this program would copy only a part. */
export const assertAllOurs = (database: SqliteDatabase): Promise<void> =>
  inTurn(() => assertAllKnown(over(database)));
