/**
 * Limits by key in place of lanes: a lane is the last key of a task, its group the first. Waiting tasks ask for room
 * once they are due.
 */
import type { Column } from "../../table.ts";
import { indexes as firstIndexes, tables } from "./0001-engine.ts";
import type { SchemaDialect } from "./dialect.ts";

const added: Readonly<Record<string, Column>> = {
  firstKey: "text?",
  firstRoom: "integer?",
  lastKey: "text?",
  lastRoom: "integer?",
  admission: "text?",
};
const gone: readonly string[] = ["lane", "cap", "laneGroup"];
const goneIndexes: readonly string[] = ["{@tasks_steps}", "{@tasks_free}", "{@tasks_laned}", "{@tasks_held}"];

const columns: Readonly<Record<string, Column>> = Object.fromEntries(
  Object.entries({ ...tables["tasks"], ...added }).filter(([name]) => !gone.includes(name)),
);

/** Those of before that a table keeps, or loses as it is made anew. */
const kept = firstIndexes.filter(
  (index) => index.includes(" on {@tasks} ") && !goneIndexes.some((name) => index.startsWith(`${name} `)),
);

/** How many tasks of a group of lanes may have room from now on. */
const ROOM_OF_GROUP = 8;

/** A claim seeks in the first three, one for each queue; the last has the rooms of each key. The dead are in none of them. */
const indexes: readonly string[] = [
  `{@tasks_steps} on {@tasks} (workflow, "visibleAt", seq)
    where "deadAt" is null and kind in ('timer', 'message') and (admission is null or admission = 'admitted')`,
  `{@tasks_free} on {@tasks} (workflow, "visibleAt", seq)
    where "deadAt" is null and kind in ('effect', 'invocation') and "firstKey" is null`,
  `{@tasks_limited} on {@tasks} (workflow, admission, "visibleAt", seq)
    where "deadAt" is null and kind in ('effect', 'invocation') and "firstKey" is not null`,
  `{@tasks_rooms} on {@tasks} ("firstKey", admission, "lastKey", seq) where "deadAt" is null and "firstKey" is not null`,
];

export const limits = ({ types, without }: SchemaDialect): readonly string[] => [
  ...Object.entries(added).map(
    ([name, kind]) =>
      `alter table {@tasks} add column "${name}" ${kind === "text?" ? types.text : types.integer}`,
  ),
  `update {@tasks} set "firstKey" = coalesce("laneGroup", lane),
      "firstRoom" = case when "laneGroup" is null then cap else ${ROOM_OF_GROUP} end,
      "lastKey" = lane, "lastRoom" = cap, admission = case when holder is null then 'paused' else 'admitted' end
    where lane is not null and kind in ('effect', 'invocation')`,
  // Those that wait keep each other's company; new ones wait for them.
  `update {@tasks} set "firstKey" = 'message to ' || instance, "firstRoom" = 1, "lastKey" = 'message to ' || instance,
      "lastRoom" = 1, admission = 'admitted'
    where kind = 'message' and name not in ('$start', 'xstate.stop')`,
  ...goneIndexes.map((index) => `drop index ${index}`),
  ...without("{@tasks}", gone, { columns, key: ["id"] }),
  ...kept.map((index) => `create index if not exists ${index}`),
  ...["lanes", "narrowedLanes"].map((table) => `drop table "{@${table}}"`),
  ...indexes.map((index) => `create index ${index}`),
];
