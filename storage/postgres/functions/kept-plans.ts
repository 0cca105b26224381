/**
 * Planner settings for the database functions that clients call, and for the functions called within.
 *
 * A session keeps a plan. A plan made while a table was empty may scan the whole table for each of its rows, once the
 * table is large: at 10,000 tasks a claim took longer than the statement timeout. So these settings leave each
 * statement a single sensible plan: a scan without an index gets a prohibitive price. JIT is off, since it compiles
 * every expensive plan, for 0.1 s each.
 */
export const KEPT_PLANS =
  "set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off";

/** A condition in a join with the changed rows: by plain equality the planner might scan an index from end to end. */
export const sought = (column: string, value: string): string => `${column} = any(array[${value}])`;

/** Ends a subquery, so that the planner runs it for each outer row and never reverses the join. */
export const FENCED = "offset 0";
