/** A table of the engine as a table in memory sees it. */
import type { Column } from "../table.ts";
import type { MemoryShape } from "./table.ts";

interface EngineTable {
  readonly columns: Readonly<Record<string, Column>>;
  readonly key?: readonly string[];
  readonly lookups?: readonly string[];
}

export function engineShape({ columns, key, lookups = [] }: EngineTable): MemoryShape {
  return {
    columns,
    ...(key === undefined ? {} : { key }),
    lookups,
  };
}
