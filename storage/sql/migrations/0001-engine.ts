/**
 * The first schema: the tables of the engine. A migration that was released is never edited: what it describes is repeated here and not taken
 * from the code of today. Rows refer to each other by id without foreign keys, so that the parts of a commit may be
 * written in any order and history outlives what it is about.
 */
import { type Kysely, sql } from "kysely";
import type { Column } from "../../table.ts";
import type { SchemaDialect } from "./dialect.ts";

const tables: Readonly<Record<string, Readonly<Record<string, Column>>>> = {
  instances: {
    id: "text",
    workflow: "text",
    hash: "text",
    version: "integer",
    status: "text",
    snapshot: "text",
    createdAt: "integer",
    updatedAt: "integer",
  },
  tasks: {
    id: "text",
    instance: "text",
    workflow: "text",
    kind: "text",
    name: "text",
    payload: "text",
    dueAt: "integer",
    lane: "text?",
    cap: "integer?",
    laneGroup: "text?",
    visibleAt: "integer",
    holder: "text?",
    token: "integer",
    crashes: "integer",
    crashedAt: "integer?",
    failures: "integer",
    lastError: "text?",
    failingSince: "integer?",
    deadAt: "integer?",
  },
  lanes: { lane: "text", workflow: "text", cap: "integer", laneGroup: "text", nextAt: "integer" },
  narrowedLanes: { lane: "text", cap: "integer" },
  watches: { kind: "text", key: "text", instance: "text", workflow: "text", shard: "integer" },
  watchShards: { kind: "text", shard: "integer", holder: "text", leaseUntil: "integer" },
  history: {
    instance: "text",
    version: "integer",
    at: "integer",
    event: "text",
    value: "text",
    cause: "text?",
  },
  // What the caller brings, and what was done with it.
  paystateTables: { name: "text", definition: "text", migrations: "integer" },
};

/** Primary keys other than `id`. */
const keys: Readonly<Record<string, readonly string[]>> = {
  lanes: ["lane", "workflow"],
  narrowedLanes: ["lane"],
  watches: ["kind", "key", "instance"],
  watchShards: ["kind", "shard"],
  history: ["instance", "version"],
  paystateTables: ["name"],
};

/** Tables whose rows of one time are distinguished by the order in which they came. */
const sequenced: ReadonlySet<string> = new Set(["tasks"]);

const lookups: readonly (readonly [table: string, ...columns: string[]])[] = [
  ["lanes", "workflow", "nextAt"],
  ["lanes", "workflow", "laneGroup", "nextAt"],
  ["watches", "kind", "shard", "key"],
  ["watches", "instance", "kind", "key"],
  ["instances", "workflow", "status", "id"],
  ["instances", "createdAt", "id"],
];

export async function engine(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  for (const [table, columns] of Object.entries(tables)) {
    const parts = { columns, key: keys[table] ?? ["id"] };
    const creation = (sequenced.has(table) ? dialect.sequencedTable : dialect.table)(table, parts);
    await sql.raw(creation).execute(db);
  }
  for (const [table, ...columns] of lookups) {
    await db.schema
      .createIndex(`${table}_by_${columns.join("_")}`)
      .on(table)
      .columns(columns)
      .execute();
  }
  await createTaskIndexes(db);
  await createFinishedIndex(db);
}

/** What has ended, by the time at which it did: an instance enters it once, with its last step. */
async function createFinishedIndex(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex("instances_finished")
    .on("instances")
    .columns(["updatedAt", "id"])
    .where(sql<boolean>`status = 'done'`)
    .execute();
}

/** A claim seeks in the first three, one for each queue, a lane's next slot in the fourth; the dead are in none of them. */
async function createTaskIndexes(db: Kysely<unknown>): Promise<void> {
  const alive = sql<boolean>`${sql.ref("deadAt")} is null`;
  const index = (name: string, columns: string[]) => db.schema.createIndex(name).on("tasks").columns(columns);
  await index("tasks_steps", ["workflow", "visibleAt", "seq"])
    .where(sql<boolean>`lane is null and ${alive} and kind in ('timer', 'message')`)
    .execute();
  await index("tasks_free", ["workflow", "visibleAt", "seq"])
    .where(sql<boolean>`lane is null and ${alive} and kind in ('effect', 'invocation')`)
    .execute();
  await index("tasks_laned", ["lane", "workflow", "visibleAt", "seq"])
    .where(sql<boolean>`lane is not null and ${alive}`)
    .execute();
  await index("tasks_held", ["lane", "visibleAt"])
    .where(sql<boolean>`lane is not null and holder is not null and ${alive}`)
    .execute();
  await db.schema
    .createIndex("tasks_suspect")
    .on("tasks")
    .expression(sql`holder, workflow, crashes, (kind in ('effect', 'invocation')), seq`)
    .where(sql<boolean>`${sql.ref("crashedAt")} is not null and ${alive}`)
    .execute();
  await index("tasks_of_instance", ["instance", "name", "seq"]).execute();
  await index("tasks_failing", ["failingSince", "seq"])
    .where(sql<boolean>`${sql.ref("failingSince")} is not null and ${alive}`)
    .execute();
  await index("tasks_dead", ["deadAt", "seq"])
    .where(sql<boolean>`${sql.ref("deadAt")} is not null`)
    .execute();
}
