/** A table of the engine as a table in memory sees it. */
import type { EngineTable } from "../engine-tables.ts";
import type { MemoryShape } from "./table.ts";

export function engineShape<R>({ columns, key, lookups = [] }: EngineTable<R>): MemoryShape {
  return {
    columns,
    ...(key === undefined ? {} : { key }),
    lookups,
  };
}
