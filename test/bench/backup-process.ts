/** A process of its own that copies a database file, as `paystate backup` is one: `[source, target]`. */
import { backupSqlite } from "../../storage/sqlite.ts";

const [source = "", target = ""] = process.argv.slice(2);
await backupSqlite(source, target);
