/**
 * The first schema: the tables of the engine. A migration that was released is never edited: what it describes is repeated here and not taken
 * from the code of today. Rows refer to each other by id without foreign keys, so that the parts of a commit may be
 * written in any order and history outlives what it is about.
 */
import type { Column } from "../../table.ts";
import { listed } from "../statement.ts";
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

/** Of the tasks that are no dead letters. */
const ALIVE = `"deadAt" is null`;
const STEPS = "kind in ('timer', 'message')";
const WORK = "kind in ('effect', 'invocation')";

export const engine = (dialect: SchemaDialect): readonly string[] => [
  ...Object.entries(tables).map(([table, columns]) => {
    const parts = { columns, key: keys[table] ?? ["id"] };
    return (sequenced.has(table) ? dialect.sequencedTable : dialect.table)(table, parts);
  }),
  ...lookups.map(
    ([table, ...columns]) =>
      `create index "${table}_by_${columns.join("_")}" on ${table} (${listed(columns)})`,
  ),
  // A claim seeks in the first three, one for each queue, a lane's next slot in the fourth; the dead are in none of them.
  `create index tasks_steps on tasks (workflow, "visibleAt", seq) where lane is null and ${ALIVE} and ${STEPS}`,
  `create index tasks_free on tasks (workflow, "visibleAt", seq) where lane is null and ${ALIVE} and ${WORK}`,
  `create index tasks_laned on tasks (lane, workflow, "visibleAt", seq) where lane is not null and ${ALIVE}`,
  `create index tasks_held on tasks (lane, "visibleAt") where lane is not null and holder is not null and ${ALIVE}`,
  `create index tasks_suspect on tasks (holder, workflow, crashes, (${WORK}), seq)
    where "crashedAt" is not null and ${ALIVE}`,
  "create index tasks_of_instance on tasks (instance, name, seq)",
  `create index tasks_failing on tasks ("failingSince", seq) where "failingSince" is not null and ${ALIVE}`,
  `create index tasks_dead on tasks ("deadAt", seq) where "deadAt" is not null`,
  // What has ended, by the time at which it did: an instance enters it once, with its last step.
  `create index instances_finished on instances ("updatedAt", id) where status = 'done'`,
];
