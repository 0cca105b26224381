/** Tables as a copy reads them: names, columns, a total order of rows, and rows in their stored form. */
import { isDeepStrictEqual } from "node:util";
import { type BoundStatement, listed, quoted, type SqlValue } from "../sql/statement.ts";

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

/** A page of a table's rows in key order, in their stored form: the first page, or the page behind `after`. */
export function pageOf(
  { name, columns, order }: CopiedTable,
  after: StoredRow | undefined,
): BoundStatement<StoredRow> {
  const place = order.map((column) => `{${column}}`).join(", ");
  const beyond = after === undefined ? "" : `where (${listed(order)}) > (${place})`;
  const text = `select ${listed(columns)} from ${quoted(name)} ${beyond} order by ${listed(order)} limit ${ROWS_AT_ONCE}`;
  return { text, values: { ...after } };
}

/** The number of copied rows of a table, counted while reading them back. */
export interface CopiedRows {
  readonly table: string;
  readonly rows: number;
  /** Sums by the name of the column, in base units. */
  readonly sums: Readonly<Record<string, bigint>>;
}

export const isSameRow = ({ columns }: CopiedTable, a: StoredRow, b: StoredRow): boolean =>
  columns.every((column) => isDeepStrictEqual(a[column] ?? null, b[column] ?? null));

export const placeOf = ({ order }: CopiedTable, row: StoredRow): string =>
  order.map((column) => String(row[column])).join(" ");
