/**
 * Priorities of tasks, the rate that one waits for, and overrides of limits. A program from before admits as it did, by the
 * limits of the tasks and in the order of arming.
 */
import type { SchemaDialect } from "./dialect.ts";

const indexes: readonly string[] = [
  `{@tasks_rooms} on {@tasks} ("firstKey", admission, "lastKey", priority desc, seq)
    where "deadAt" is null and "firstKey" is not null`,
  // Of tasks with two limits, by the second.
  `{@tasks_second} on {@tasks} ("lastKey", admission) where "deadAt" is null and "lastKey" <> "firstKey"`,
  `{@tasks_rated} on {@tasks} ("rateKey") where "rateKey" is not null`,
];

export const limitsAtRunTime = ({ types, table }: SchemaDialect): readonly string[] => [
  table("paystateLimits", { columns: { key: "text", atMost: "integer" }, key: ["key"] }),
  `alter table {@tasks} add column priority ${types.integer} not null default 0`,
  `alter table {@tasks} add column "rateKey" ${types.text}`,
  "drop index {@tasks_rooms}",
  ...indexes.map((index) => `create index ${index}`),
];
