/** Named leases take the place of those on shards of watches, and of the watch that retention had for one. */
import type { SchemaDialect } from "./dialect.ts";

export const leases = ({ table }: SchemaDialect): readonly string[] => [
  table("paystateLeases", {
    columns: { name: "text", holder: "text", until: "integer", ms: "integer" },
    key: ["name"],
  }),
  `drop table "{@watchShards}"`,
  "delete from {@watches} where kind in ('$keep finished', '$keep payments')",
];
