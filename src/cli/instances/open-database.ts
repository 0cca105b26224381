/** The database that is looked into: a file that is named, or that of a `paystate dev` folder. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { sqliteStorage } from "../../../storage/sqlite.ts";
import type { EngineStorage } from "../../../storage/storage.ts";
import { DATABASE_FILE } from "../dev-data.ts";
import { UsageError } from "../usage-error.ts";

/** An open database and the name that people gave it. */
export interface OpenDatabase {
  readonly storage: EngineStorage;
  readonly file: string;
}

/** Opens it beside whatever process works on it. Nothing is created: a file that is not there is refused. */
export async function openDatabaseFile({
  db,
  data,
}: {
  readonly db?: string | undefined;
  readonly data?: string | undefined;
}): Promise<OpenDatabase> {
  if (db !== undefined && data !== undefined) throw new UsageError("expected --db or --data, not both");
  const file = db ?? join(data ?? ".paystate", DATABASE_FILE);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true) {
    throw new Error(
      `there is no database ${file}: name its file with --db, or a folder of paystate dev with --data`,
    );
  }
  if (found.size === 0) throw new Error(`${file} is empty: expected a database that paystate has written`);
  return { storage: await sqliteStorage(file), file };
}
