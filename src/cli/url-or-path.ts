/** Tells a URL from a path: one that is taken for a path has its password in errors, or in the name of a folder. */
import { UsageError } from "./command.ts";

export function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** Whether the text is the URL of a PostgreSQL database. */
export function isPostgres(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/** Throws `UsageError` when the value of `--data` is a URL. It is not shown: it may hold a password. */
export function refuseUrlAsFolder(folder: string): void {
  if (!isUrl(folder)) return;
  throw new UsageError("--data takes the folder of a `paystate dev`, which works on SQLite, and not a URL");
}
