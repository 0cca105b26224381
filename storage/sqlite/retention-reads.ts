/** What retention asks of SQLite: which instances have ended, and how much of the file holds data. */
import type { Kysely } from "kysely";
import { finishedValues } from "../sql/finished-values.ts";
import { instanceStatements } from "../sql/instance-statements.ts";
import type { Schema } from "../sql/schema.ts";
import type { Statement } from "../sql/statement.ts";
import type { EngineStorage } from "../storage.ts";
import type { Connection } from "./connection.ts";

/** Pages that were freed wait in the file to be used again. */
const usedBytes: Statement<object, { bytes: number }> = {
  sql: `select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count(), pragma_freelist_count(), pragma_page_size()`,
  parameters: [],
};

export function retentionReads(
  connection: Connection,
  db: Kysely<Schema>,
): Pick<EngineStorage, "finishedInstances" | "size"> {
  const { finished } = connection.prepareAll({ finished: instanceStatements(db).finished });
  const size = connection.prepare(usedBytes);
  return {
    finishedInstances: (page) => connection.read(() => finished.all(finishedValues(page))),
    size: () => connection.read(() => size.get({})?.bytes ?? null),
  };
}
