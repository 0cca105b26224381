/** Limits by key in place of lanes: a lane is the last key of a task, its group the first. What waits asks for room once it is due. */
import type { SchemaDialect } from "./dialect.ts";

/** How many tasks of a group of lanes may have room from now on. */
const ROOM_OF_GROUP = 8;

const added = [
  ["firstKey", "text"],
  ["firstRoom", "integer"],
  ["lastKey", "text"],
  ["lastRoom", "integer"],
  ["admission", "text"],
] as const;

const ALIVE = `"deadAt" is null`;
const WORK = "kind in ('effect', 'invocation')";

export const limits = ({ types }: SchemaDialect): readonly string[] => [
  ...added.map(([name, kind]) => `alter table tasks add column "${name}" ${types[kind]}`),
  `update tasks set "firstKey" = coalesce("laneGroup", lane),
      "firstRoom" = case when "laneGroup" is null then cap else ${ROOM_OF_GROUP} end,
      "lastKey" = lane, "lastRoom" = cap, admission = case when holder is null then 'paused' else 'admitted' end
    where lane is not null and ${WORK}`,
  // Those that wait keep each other's company; new ones wait for them.
  `update tasks set "firstKey" = 'message to ' || instance, "firstRoom" = 1, "lastKey" = 'message to ' || instance,
      "lastRoom" = 1, admission = 'admitted'
    where kind = 'message' and name not in ('$start', 'xstate.stop')`,
  ...["tasks_steps", "tasks_free", "tasks_laned", "tasks_held"].map((index) => `drop index ${index}`),
  ...["lane", "cap", "laneGroup"].map((column) => `alter table tasks drop column "${column}"`),
  "drop table lanes",
  `drop table "narrowedLanes"`,
  // A claim seeks in the first three, one for each queue; the last has the rooms of each key. The dead are in none of them.
  `create index tasks_steps on tasks (workflow, "visibleAt", seq)
    where ${ALIVE} and kind in ('timer', 'message') and (admission is null or admission = 'admitted')`,
  `create index tasks_free on tasks (workflow, "visibleAt", seq) where ${ALIVE} and ${WORK} and "firstKey" is null`,
  `create index tasks_limited on tasks (workflow, admission, "visibleAt", seq)
    where ${ALIVE} and ${WORK} and "firstKey" is not null`,
  `create index tasks_rooms on tasks ("firstKey", admission, "lastKey", seq) where ${ALIVE} and "firstKey" is not null`,
];
