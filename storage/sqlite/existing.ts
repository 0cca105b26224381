/** Opens existing database files, and tells whether paystate made them. */
import { StorageUnusable } from "../storage-unusable.ts";
import { inTurn } from "./connection.ts";
import { loadDriver } from "./driver.ts";
import type { OpenedDatabase, SqliteDatabase } from "./handle.ts";
import { explained } from "./explain.ts";
import { hasSchema } from "./schema.ts";

/** @throws StorageUnusable where the file cannot be opened. */
export async function openExisting(
  path: string,
  options: { readonly readonly?: true } = {},
): Promise<OpenedDatabase> {
  const driver = await loadDriver();
  try {
    return driver.open(path, { fileMustExist: true, ...options });
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

/** The refusal of a file that is empty, or holds a host's tables alone. */
export const nothingOfOurs = (): StorageUnusable =>
  new StorageUnusable("foreign_database", "this database holds none of paystate's tables");

/** @throws StorageUnusable unless the file has the tables of this code. */
export const assertOurs = (database: SqliteDatabase): Promise<void> =>
  inTurn(() => {
    if (!hasSchema(database)) throw nothingOfOurs();
  });
