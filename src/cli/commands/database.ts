/** Commands on a database as a whole. */
import { end, UsageError } from "../command.ts";
import { argument, neededText, text } from "../../core/takes.ts";
import { command } from "../define.ts";
import { isPostgres, isUrl } from "../url-or-path.ts";
import { FILE, JSON_LINE } from "./shared.ts";

export const databaseCommands = [
  command({
    name: "backup",
    help: "Copies an SQLite database to a new file, also while a service works on it, and checks the copy",
    takes: { target: argument("FILE", "the name of a new file"), ...FILE, ...JSON_LINE },
    run: async (values, print) => (await import("../backup.ts")).backup(values, print),
  }),
  command({
    name: "migrate",
    help: "Moves an SQLite database into PostgreSQL while no process has it open. Every row is read back, and the file is given up. Cut off, it is run again and goes on; the old file and the new database can never both be in use.",
    takes: {
      from: neededText("FILE", "an SQLite database"),
      to: neededText("URL", "such as postgres://user@host:5432/database"),
      schema: text("NAME", "the schema that is made there, default paystate"),
      ...JSON_LINE,
    },
    run: async ({ from, to, schema, json }, print) => {
      // Neither is shown: a URL may hold a password.
      if (isUrl(from)) throw new UsageError("--from expects the file of an SQLite database, not a URL");
      if (!isPostgres(to)) {
        throw new UsageError("--to expects a URL of PostgreSQL such as postgres://user@host:5432/database");
      }
      const { migrate } = await import("../migrate.ts");
      await migrate({ from, to, ...(schema !== undefined && { schema }) }, print, json);
      await end(0);
    },
  }),
];
