/**
 * Statements as text with named places for values, such as `select * from "paystateTasks" where id = {id}`, where adapters put
 * their driver's placeholders.
 */

/** The type of values for and from a driver. */
export type SqlValue = string | number | Uint8Array | null;

/** A row whose fields are known to the description of its table, not to the compiler. */
export type AnyRow = Record<string, SqlValue>;

export interface Statement<Values, Row> {
  readonly text: string;
  /** Whether the statement reads a few rows, which its values name. Any other read takes a connection for itself. */
  readonly isNamed?: boolean;
  /** Never there; they keep the types of the values and of the rows. */
  readonly takes?: (values: Values) => void;
  readonly row?: Row;
}

export const statement = <Values extends object, Row = unknown>(text: string): Statement<Values, Row> => ({
  text,
});

/** A statement that reads few rows, which its values name. */
export const namedRead = <Values extends object, Row = unknown>(text: string): Statement<Values, Row> => ({
  text,
  isNamed: true,
});

/** A statement and its values. */
export interface BoundStatement<Row = unknown> extends Statement<AnyRow, Row> {
  readonly values: AnyRow;
}

/** Carries out a statement that reads. Answers its rows, as the columns lie. */
export type StatementReader = <Values extends object, Row>(
  statement: Statement<Values, Row>,
  values: Values,
) => Promise<Row[]>;

/** Places, and the quoted parts in which a brace is none. */
const PLACE = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\{([^{}]+)\}/g;

/** The text with something else in the place of each of its values. */
export const withPlaces = (text: string, place: (name: string) => string): string =>
  text.replace(PLACE, (whole, name: string | undefined) => (name === undefined ? whole : place(name)));

/** A name as SQL has it. A name must not be read as more than a name. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Names as SQL has them. */
export const listed = (names: readonly string[]): string => names.map(quoted).join(", ");

/** Adds a row with these fields. @param table As SQL has it. */
export const insertInto = (table: string, fields: readonly string[]): string =>
  `insert into ${table} (${listed(fields)}) values (${fields.map((field) => `{${field}}`).join(", ")})`;

/** The assignments of an update. */
export const assigned = (fields: readonly string[]): string =>
  fields.map((field) => `${quoted(field)} = {${field}}`).join(", ");

/** Eight digits that tell texts apart, for names in a database. */
export function digest(text: string): string {
  let sum = 0;
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 2 ** 32;
  return sum.toString(16).padStart(8, "0");
}
