/**
 * Statements as text with named places for values and for names of the engine's own, such as
 * `select * from {@tasks} where id = {id}`. Adapters put their driver's placeholders there, and the names that the database has.
 */

/** The type of values for and from a driver. */
export type SqlValue = string | number | Uint8Array | null;

/** A row whose fields are known to the description of its table, not to the compiler. */
export type AnyRow = Record<string, SqlValue>;

export interface Statement<Values, Row> {
  readonly text: string;
  /** Never there; they keep the types of the values and of the rows. */
  readonly takes?: (values: Values) => void;
  readonly row?: Row;
}

export const statement = <Values extends object, Row = unknown>(text: string): Statement<Values, Row> => ({
  text,
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

/** What a database calls a table or an index of the engine's. */
export type NameOf = (name: string) => string;

/** In a schema of its own, and in a file that was made before names had a prefix. */
export const plainName: NameOf = (name) => name;

/** In a file that a host may have tables in. */
export const prefixedName: NameOf = (name) =>
  name.startsWith("paystate") ? name : `paystate${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** The text with something else in the place of each of its values, and with the names of the database. */
export function withPlaces(
  text: string,
  place: (name: string) => string,
  nameOf: NameOf = plainName,
): string {
  return text.replace(PLACE, (whole, name: string | undefined) => {
    if (name === undefined) return whole;
    return name.startsWith("@") ? quoted(nameOf(name.slice(1))) : place(name);
  });
}

/** A text without values, such as one of a migration, with the names of the database, also within quotes. */
export const withNames = (text: string, nameOf: NameOf): string =>
  text.replace(/\{@(\w+)\}/g, (_, name: string) => nameOf(name));

/** A name as SQL has it. None may be read as more than a name. */
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
