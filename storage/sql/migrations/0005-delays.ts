/** A task keeps the delay that it waits by. The delays of stored tasks are unknown: stored tasks keep their moment. */
import type { SchemaDialect } from "./dialect.ts";

export const delays = ({ types }: SchemaDialect): readonly string[] => [
  `alter table {@tasks} add column "delayMs" ${types.integer}`,
];
