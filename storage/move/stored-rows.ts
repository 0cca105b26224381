/** Tables as a copy sees them: names, columns, an order that tells all rows apart, and rows as they lie there. */
import { type BoundStatement, listed, quoted, type SqlValue } from "../sql/statement.ts";

/** A table, whatever it is for. */
export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns by which its rows are read in pages; together they are unique. */
  readonly order: readonly string[];
  /** Columns that hold amounts, which are summed. */
  readonly amounts: readonly string[];
}

export type StoredRow = Readonly<Record<string, SqlValue>>;

const ROWS_AT_ONCE = 250;

/** Some rows of a table in its order, as they lie there: those behind one, or the first. */
export function pageOf(
  { name, columns, order }: CopiedTable,
  after: StoredRow | undefined,
): BoundStatement<StoredRow> {
  const place = order.map((column) => `{${column}}`).join(", ");
  const beyond = after === undefined ? "" : `where (${listed(order)}) > (${place})`;
  const text = `select ${listed(columns)} from ${quoted(name)} ${beyond} order by ${listed(order)} limit ${ROWS_AT_ONCE}`;
  return { statement: { text }, values: { ...after } };
}

/** What was copied of a table, counted while it was read back. */
export interface CopiedRows {
  readonly table: string;
  readonly rows: number;
  /** By the name of the column, in base units. */
  readonly sums: Readonly<Record<string, bigint>>;
}

/** Whether two databases hold the same in this row. */
export function isSameRow({ columns }: CopiedTable, a: StoredRow, b: StoredRow): boolean {
  return columns.every((column) => isSame(a[column] ?? null, b[column] ?? null));
}

function isSame(a: SqlValue, b: SqlValue): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}

/** Its place in the order, as a sentence names it. */
export const placeOf = ({ order }: CopiedTable, row: StoredRow): string =>
  order.map((column) => String(row[column])).join(" ");
