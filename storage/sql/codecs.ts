/**
 * Between records and rows. Amounts are decimal text in SQLite, whose integers end at 2^63 − 1; what JSON holds is JSON
 * text, in which a bigint is an object with one field.
 */
import { BIGINT, checked, type DescribedTable, type Field, fieldsOf, givenFields, mapped } from "../row.ts";
import type { ColumnKind } from "../table.ts";
import type { SqlValue } from "./statement.ts";

interface Codec {
  encode(value: unknown): SqlValue;
  decode(column: SqlValue): unknown;
}

const asIs: Codec = { encode: (value) => value as SqlValue, decode: (column) => column };

const withBigints = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? { [BIGINT]: String(value) } : value;

const bigintsAgain = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && BIGINT in value ? BigInt(String(value[BIGINT])) : value;

const codecs: { readonly [K in ColumnKind]: Codec } = {
  text: asIs,
  integer: asIs,
  amount: { encode: (value) => String(value), decode: (column) => BigInt(String(column)) },
  boolean: { encode: (value) => (value === true ? 1 : 0), decode: (column) => column === 1 },
  // The driver gives a Buffer; a copy of the plain class keeps its pool and its methods out of the records.
  bytes: { ...asIs, decode: (column) => Uint8Array.from(column as Uint8Array) },
  json: {
    encode: (value) => JSON.stringify(value, withBigints),
    decode: (column) => {
      const text = String(column);
      return JSON.parse(text, text.includes(BIGINT) ? bigintsAgain : undefined) as unknown;
    },
  },
};

/** @throws TypeError when a field is missing or not of its kind. */
export const encodeRow = (table: DescribedTable, record: object): Record<string, SqlValue> =>
  mapped(fieldsOf(table), record, encoded);

/**
 * A row of the engine's own, whose fields lie in their columns as they are: bound without a copy.
 * @throws TypeError when a field is missing or not of its kind.
 */
export function checkedRow<Row extends object>(table: DescribedTable, row: Row): Row {
  for (const field of fieldsOf(table)) checked(field, row[field.name as keyof Row]);
  return row;
}

/** Only those fields that are given. */
export const encodeChanges = (table: DescribedTable, changes: object): Record<string, SqlValue> =>
  mapped(givenFields(table, changes), changes, encoded);

/** Encodes a value for its column. */
export const encodeValue = (field: Field, value: unknown): SqlValue => encoded(checked(field, value), field);

const encoded = (value: unknown, { kind }: Field): SqlValue =>
  value === null ? null : codecs[kind].encode(value);

export function decodeRow(table: DescribedTable, row: object): object {
  const record: Record<string, unknown> = {};
  for (const { name, kind } of fieldsOf(table)) {
    const column = (row as Record<string, SqlValue>)[name] ?? null;
    record[name] = column === null ? null : codecs[kind].decode(column);
  }
  return record;
}
