/** How much the tables of the schema take on the server's disk, with their indexes and long values. */
import type { Statement } from "../sql/statement.ts";

export const usedBytes: Statement<object, { bytes: number }> = {
  sql: `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relkind = 'r'`,
  parameters: [],
};
