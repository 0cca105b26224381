/** A task keeps the delay that it waits by. Of those that are there nobody knows it: they keep their moment. */
import type { SchemaDialect } from "./dialect.ts";

export const delays = ({ types }: SchemaDialect): readonly string[] => [
  `alter table tasks add column "delayMs" ${types.integer}`,
];
