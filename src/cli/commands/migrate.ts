/** The arguments of `paystate migrate`. */
import { end } from "../end.ts";
import { isPostgres, isUrl } from "../url-or-path.ts";
import type { Command } from "../print.ts";
import { readArguments } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";

export const migrate: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    from: { type: "string" },
    to: { type: "string" },
    schema: { type: "string" },
    json: { type: "boolean", default: false },
  });
  const { from, to, schema, json } = values;
  if (positionals[0] !== undefined) throw new UsageError(`migrate takes no argument "${positionals[0]}"`);
  if (from === undefined || to === undefined) {
    throw new UsageError("migrate expects --from FILE, an SQLite database, and --to URL, of PostgreSQL");
  }
  if (isUrl(from)) {
    throw new UsageError("--from expects the file of an SQLite database, not a URL");
  }
  if (!isPostgres(to)) {
    throw new UsageError("--to expects a URL of PostgreSQL such as postgres://user@host:5432/database");
  }
  const { migrate: move } = await import("../migrate.ts");
  await move({ from, to, ...(schema === undefined ? {} : { schema }) }, print, json);
  await end(0);
};
