/** What PostgreSQL tells of instances: one, its history, and pages of many; and how much all takes. */
import { instanceStatements, listingValues, listStatements } from "../sql/instance-statements.ts";
import type { Statement } from "../sql/statement.ts";
import type { EngineStorage, InstanceListing, InstanceRecord } from "../storage.ts";
import type { compiler } from "./compiler.ts";
import type { Database } from "./database.ts";
import { usedBytes } from "./used-bytes.ts";

type ListStatements = Readonly<Record<InstanceListing["order"], Statement<never, InstanceRecord>>>;

export function instanceReads(
  database: Database,
  db: ReturnType<typeof compiler>,
): Pick<EngineStorage, "load" | "history" | "list" | "size"> {
  const instances = instanceStatements(db);
  const lists: ListStatements = listStatements(db);
  return {
    load: async (id) => (await database.read(instances.load, { id }))[0] ?? null,
    history: (instance, { after, limit }) => database.read(instances.history, { instance, after, limit }),
    list: (listing) => database.read(lists[listing.order], listingValues(listing) as never),
    size: async () => (await database.read(usedBytes, {}))[0]?.bytes ?? null,
  };
}
