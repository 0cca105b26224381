/** What PostgreSQL tells of instances: one, its history, pages of many, and which have ended. */
import { finishedValues } from "../sql/finished-values.ts";
import { instanceStatements } from "../sql/instance-statements.ts";
import type { EngineStorage } from "../storage.ts";
import type { compiler } from "./compiler.ts";
import type { Database } from "./database.ts";
import { instanceWorkflows } from "./instance-workflows.ts";
import { usedBytes } from "./used-bytes.ts";

type Reads =
  "load" | "history" | "instanceWorkflows" | "instances" | "newestInstances" | "finishedInstances" | "size";

export function instanceReads(
  database: Database,
  db: ReturnType<typeof compiler>,
): Pick<EngineStorage, Reads> {
  const instances = instanceStatements(db);
  return {
    load: async (id) => (await database.read(instances.load, { id }))[0] ?? null,
    history: (instance, { after, limit }) => database.read(instances.history, { instance, after, limit }),
    instanceWorkflows: async () =>
      (await database.read(instanceWorkflows, {})).map(({ workflow }) => workflow),
    instances: (page) => database.read(instances.page, page),
    newestInstances: ({ before, limit }) =>
      database.read(instances.newest, {
        createdAt: before?.createdAt ?? Number.MAX_SAFE_INTEGER,
        id: before?.id ?? "",
        limit,
      }),
    finishedInstances: (page) => database.read(instances.finished, finishedValues(page)),
    size: async () => (await database.read(usedBytes, {}))[0]?.bytes ?? null,
  };
}
