/**
 * How the functions that are called plan their statements, and those of the functions which they call.
 *
 * A session keeps a plan. One that was made while a table was empty may read all of the table for each row of it, once the table
 * is large: at 10,000 tasks a claim took longer than a statement may. So each statement has one plan that is sensible: what has
 * no index, or not the order of one, costs a price that is never paid; and no JIT, which compiles what costs much, for 0.1 s each.
 */
export const KEPT_PLANS =
  "set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off";

/**
 * In a join with the rows that are changed: the column that is sought, and the value by which it is. An equality of two
 * columns would let the planner go through an index from its beginning to its end.
 */
export const sought = (column: string, value: string): string => `${column} = any(array[${value}])`;

/** A text column by which nothing is sought: an index that begins with it holds too much of the same. */
export const unsought = (column: string): string => `(${column} || '')`;

/** Ends a query within another one that is carried out for each row of that, and never joined with it the other way round. */
export const FENCED = "offset 0";
