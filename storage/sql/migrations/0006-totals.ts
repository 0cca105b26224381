/** Totals of groups, which the triggers of the caller's tables keep: programs without them write as before. */
import { TOTALS, totalsTable } from "../group-totals.ts";
import type { SchemaDialect } from "./dialect.ts";

export const totals = ({ table }: SchemaDialect): readonly string[] => [table(TOTALS, totalsTable)];
