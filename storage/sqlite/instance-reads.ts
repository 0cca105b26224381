/** What SQLite tells of instances: one, its history, and pages of many. */
import type { Kysely } from "kysely";
import { instanceStatements } from "../sql/instance-statements.ts";
import type { Schema } from "../sql/schema.ts";
import type { EngineStorage } from "../storage.ts";
import type { Connection } from "./connection.ts";

type Reads = "load" | "history" | "instanceWorkflows" | "instances" | "newestInstances";

export function instanceReads(connection: Connection, db: Kysely<Schema>): Pick<EngineStorage, Reads> {
  const instances = connection.prepareAll(instanceStatements(db));
  return {
    load: (id) => connection.read(() => instances.load.get({ id }) ?? null),
    history: (instance, { after, limit }) =>
      connection.read(() => instances.history.all({ instance, after, limit })),
    instanceWorkflows: () =>
      connection.read(() => {
        const workflows: string[] = [];
        let next = instances.workflowAfter.get({ after: "" });
        while (next !== undefined) {
          workflows.push(next.workflow);
          next = instances.workflowAfter.get({ after: next.workflow });
        }
        return workflows;
      }),
    instances: (page) => connection.read(() => instances.page.all(page)),
    newestInstances: ({ before, limit }) =>
      connection.read(() =>
        instances.newest.all({
          createdAt: before?.createdAt ?? Number.MAX_SAFE_INTEGER,
          id: before?.id ?? "",
          limit,
        }),
      ),
  };
}
