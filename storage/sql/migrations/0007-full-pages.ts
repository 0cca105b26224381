/** Rows of the history never change: its pages keep no room for that any more. */
import type { SchemaDialect } from "./dialect.ts";

export const fullPages = ({ settled }: SchemaDialect): readonly string[] => settled("{@history}");
