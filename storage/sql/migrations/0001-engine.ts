/**
 * The first schema: the tables of the engine. A migration that was released is never edited: what it describes is repeated here and not taken
 * from the code of today. Rows refer to each other by id without foreign keys, so that the parts of a commit may be
 * written in any order and history outlives what it is about.
 */
import type { Column } from "../../table.ts";
import type { SchemaDialect } from "./dialect.ts";

export const tables: Readonly<Record<string, Readonly<Record<string, Column>>>> = {
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
  // The caller's tables, and their migrations.
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

export const indexes: readonly string[] = [
  `"{@lanes_by_workflow_nextAt}" on {@lanes} (workflow, "nextAt")`,
  `"{@lanes_by_workflow_laneGroup_nextAt}" on {@lanes} (workflow, "laneGroup", "nextAt")`,
  `{@watches_by_kind_shard_key} on {@watches} (kind, shard, key)`,
  `{@watches_by_instance_kind_key} on {@watches} (instance, kind, key)`,
  `{@instances_by_workflow_status_id} on {@instances} (workflow, status, id)`,
  `"{@instances_by_createdAt_id}" on {@instances} ("createdAt", id)`,
  // Ended instances by the time of their end: an instance enters the index once, with its last step.
  `{@instances_finished} on {@instances} ("updatedAt", id) where status = 'done'`,
  // A claim seeks in the next three, one for each queue, a lane's next slot in the fourth; the dead are in none of them.
  `{@tasks_steps} on {@tasks} (workflow, "visibleAt", seq)
    where lane is null and "deadAt" is null and kind in ('timer', 'message')`,
  `{@tasks_free} on {@tasks} (workflow, "visibleAt", seq)
    where lane is null and "deadAt" is null and kind in ('effect', 'invocation')`,
  `{@tasks_laned} on {@tasks} (lane, workflow, "visibleAt", seq) where lane is not null and "deadAt" is null`,
  `{@tasks_held} on {@tasks} (lane, "visibleAt") where lane is not null and holder is not null and "deadAt" is null`,
  `{@tasks_suspect} on {@tasks} (holder, workflow, crashes, (kind in ('effect', 'invocation')), seq)
    where "crashedAt" is not null and "deadAt" is null`,
  `{@tasks_of_instance} on {@tasks} (instance, name, seq)`,
  `{@tasks_failing} on {@tasks} ("failingSince", seq) where "failingSince" is not null and "deadAt" is null`,
  `{@tasks_dead} on {@tasks} ("deadAt", seq) where "deadAt" is not null`,
];

export const engine = ({ table, sequencedTable }: SchemaDialect): readonly string[] => [
  ...Object.entries(tables).map(([name, columns]) => {
    const parts = { columns, key: keys[name] ?? ["id"] };
    // Tasks of the same time are ordered by their arrival.
    return name === "tasks" ? sequencedTable("{@tasks}", parts) : table(`{@${name}}`, parts);
  }),
  ...indexes.map((index) => `create index ${index}`),
];
