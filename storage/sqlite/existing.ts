/** Opens existing database files, and tells whether paystate made them. */
import { sqliteSchema } from "../sql/migrations/dialect.ts";
import { assertAllKnown, isCurrent } from "../sql/migrations/index.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import { inTurn } from "./connection.ts";
import { loadDriver, type OpenedDatabase, type SqliteDatabase } from "./driver.ts";
import { explained } from "./explain.ts";
import { isWritten, schemaIn } from "./schema.ts";

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

/** Opens a file for as long as something is done with it. */
export async function during<A>(
  path: string,
  options: { readonly readonly?: true },
  act: (database: OpenedDatabase) => A | Promise<A>,
): Promise<A> {
  const database = await openExisting(path, options);
  try {
    return await act(database);
  } finally {
    database.close();
  }
}

/**
 * Whether the file has the tables of this code, or those of an older one, which a storage on it would migrate; `none` for
 * an empty file, and for one of a host's tables alone.
 */
export const schemaOf = (database: SqliteDatabase): Promise<"present" | "older" | "none"> =>
  inTurn(async () => {
    if (await isCurrent(schemaIn(database), sqliteSchema)) return "present";
    return isWritten(database) ? "older" : "none";
  });

/** The refusal of a file that is empty, or holds a host's tables alone. */
export const nothingOfOurs = (): StorageUnusable =>
  new StorageUnusable("foreign_database", "this database holds none of paystate's tables");

/** @throws StorageUnusable unless the file has the tables of this code. */
export async function assertOurs(database: SqliteDatabase): Promise<void> {
  const schema = await schemaOf(database);
  if (schema === "none") throw nothingOfOurs();
  if (schema === "older") {
    throw new StorageUnusable(
      "old_schema",
      "this database was written by an older paystate: use that version, or let a service with this one begin on it once",
    );
  }
}

/** @throws StorageUnusable when a newer program has changed the file, since this program would copy only a part. */
export const assertAllOurs = (database: SqliteDatabase): Promise<void> =>
  inTurn(() => assertAllKnown(schemaIn(database)));
