/** What SQLite tells of instances: one, its history, and pages of many; and how much of the file holds data. */
import type { Kysely } from "kysely";
import { instanceStatements, listingValues, listStatements } from "../sql/instance-statements.ts";
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

export function instanceReads(
  connection: Connection,
  db: Kysely<Schema>,
): Pick<EngineStorage, "load" | "history" | "list" | "size"> {
  const instances = connection.prepareAll(instanceStatements(db));
  const lists = connection.prepareAll(listStatements(db));
  const size = connection.prepare(usedBytes);
  return {
    load: (id) => connection.read(() => instances.load.get({ id }) ?? null),
    history: (instance, { after, limit }) =>
      connection.read(() => instances.history.all({ instance, after, limit })),
    list: (listing) => connection.read(() => lists[listing.order].all(listingValues(listing) as never)),
    size: () => connection.read(() => size.get({})?.bytes ?? null),
  };
}
