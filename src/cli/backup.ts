/** `paystate backup FILE`: one moment of a database that may be in use, in a file of its own. */
import { backupSqlite, type SqliteBackupProgress } from "../../storage/sqlite.ts";
import { databaseFile, type DatabaseOptions } from "./open-database.ts";
import type { Print } from "./command.ts";
import { ProgressBar } from "./progress-bar.ts";

/** Options of a backup: the database, and the format of the answer. */
interface BackupOptions extends DatabaseOptions {
  readonly target: string;
  readonly json: boolean;
}

/** Copies the database to `target`, checks the copy, and says how large it is. */
export async function backup({ target, ...wanted }: BackupOptions, print: Print): Promise<void> {
  const source = databaseFile(wanted, "take pg_dump, or the continuous archiving of its server");
  const bar = new ProgressBar(process.stdout);
  const onProgress = ({ copiedPages, pages }: SqliteBackupProgress): void =>
    bar.show(copiedPages < pages ? "copied" : "copied, and each page is checked", copiedPages / pages);
  const { file, bytes } = await backupSqlite(source, target, { onProgress }).finally(() => bar.clear());
  const said = `${file} holds ${source} as it was when this began: ${bytes} bytes, every page checked.`;
  print(wanted.json ? JSON.stringify({ file, bytes }) : said);
}
