/**
 * Opens the database of a command that works beside the service: the named database, or the database of a
 * `paystate dev` folder.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { postgresStorage } from "../../storage/postgres.ts";
import { StorageUnusable } from "../../storage/storage-unusable.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { DATABASE_FILE } from "./dev-data.ts";
import { isPostgres, isUrl, refuseUrlAsFolder } from "./url-or-path.ts";
import { UsageError } from "./command.ts";

/** A database, by the values of these options. */
export interface DatabaseOptions {
  readonly data?: string | undefined;
  readonly database?: string | undefined;
  /** The schema of paystate in PostgreSQL, for commands that open a PostgreSQL database; default `paystate`. */
  readonly schema?: string | undefined;
}

/** An open database and the name of its file, or its address without the password. */
export interface OpenDatabase {
  readonly storage: EngineStorage;
  readonly file: string;
}

/**
 * Lets `act` use the database, and closes it; other processes may work on it meanwhile. Never creates one: a mistyped
 * name is refused with a sentence.
 */
export async function withDatabase(
  place: DatabaseOptions,
  act: (open: OpenDatabase) => Promise<void>,
): Promise<void> {
  const { storage, file } = await opened(placeOf(place), place.schema);
  try {
    await act({ storage, file });
  } finally {
    await storage.close();
  }
}

async function opened(place: string, schema: string | undefined): Promise<OpenDatabase> {
  if (!isPostgres(place)) {
    if (schema === undefined) return openFile(place);
    throw new UsageError(`--schema ${schema}: expected --database with a URL of PostgreSQL beside it`);
  }
  const storage = await postgresStorage(place, {
    create: false,
    ...(schema === undefined ? {} : { schema }),
  });
  const { host, pathname } = new URL(place);
  return { storage, file: `postgres://${host}${pathname}` };
}

/** The file of an SQLite database that is there, by its options. Throws for PostgreSQL, naming `instead`. */
export function databaseFile({ data, database }: DatabaseOptions, instead: string): string {
  const place = placeOf({ data, database });
  if (isPostgres(place)) throw new UsageError(`this database is PostgreSQL: ${instead}`);
  mustBeDatabase(place);
  return place;
}

function placeOf({ data, database }: DatabaseOptions): string {
  if (data !== undefined && database !== undefined) {
    throw new UsageError("expected --data or --database, not both");
  }
  if (data !== undefined) refuseUrlAsFolder(data);
  const place = database ?? join(data ?? ".paystate", DATABASE_FILE);
  if (!isUrl(place) || isPostgres(place)) return place;
  throw new UsageError(
    "--database takes a file of SQLite, or a URL of PostgreSQL such as postgres://user@host:5432/database",
  );
}

async function openFile(file: string): Promise<OpenDatabase> {
  mustBeDatabase(file);
  try {
    return { storage: await sqliteStorage(file, { create: false }), file };
  } catch (cause) {
    throw cause instanceof StorageUnusable ? new Error(`${file}: ${cause.message}`, { cause }) : cause;
  }
}

function mustBeDatabase(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true) {
    throw new Error(`there is no database ${file}: name one with --database FILE`);
  }
  if (found.size === 0) throw new Error(`${file} is empty: expected a database that paystate has written`);
}
