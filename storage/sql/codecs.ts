/**
 * Between records and rows. Amounts are decimal text in SQLite, whose integers end at 2^63 − 1; lists are JSON text,
 * in which an amount is a string too.
 */
import type { RecipientShare } from "../records.ts";
import { checked, type Field, fieldsOf } from "../row.ts";
import type { ColumnKind, Table } from "../tables.ts";
import type { SqlValue } from "./schema.ts";

interface Codec {
  encode(value: unknown): SqlValue;
  decode(column: SqlValue): unknown;
}

const plain = (value: unknown): SqlValue => value as SqlValue;

const parsed = (column: SqlValue): unknown => JSON.parse(String(column));

const asIs: Codec = { encode: plain, decode: (column) => column };

const codecs: { readonly [K in ColumnKind]: Codec } = {
  text: asIs,
  integer: asIs,
  amount: { encode: (value) => String(value), decode: (column) => BigInt(String(column)) },
  boolean: { encode: (value) => (value === true ? 1 : 0), decode: (column) => column === 1 },
  // The driver gives a Buffer; a copy of the plain class keeps its pool and its methods out of the records.
  bytes: { encode: plain, decode: (column) => Uint8Array.from(column as Uint8Array) },
  strings: { encode: (value) => JSON.stringify(value), decode: parsed },
  shares: {
    encode: (value) =>
      JSON.stringify((value as RecipientShare[]).map(({ address, amount }) => [address, String(amount)])),
    decode: (column) =>
      (parsed(column) as [string, string][]).map(([address, amount]) => ({
        address,
        amount: BigInt(amount),
      })),
  },
};

/** @throws TypeError when a field is missing or not of its kind. */
export function encodeRow<R extends object>(table: Table<R>, record: R): Record<string, SqlValue> {
  return encodeFields(fieldsOf(table), record);
}

/** Only those fields that are given. */
export function encodeChanges<R extends object>(
  table: Table<R>,
  changes: Partial<R>,
): Record<string, SqlValue> {
  return encodeFields(
    fieldsOf(table).filter(({ name }) => name in changes),
    changes,
  );
}

export function decodeRow<R extends object>(table: Table<R>, row: object): R {
  const record: Record<string, unknown> = {};
  for (const { name, kind } of fieldsOf(table)) {
    const column = (row as Record<string, SqlValue>)[name] ?? null;
    record[name] = column === null ? null : codecs[kind].decode(column);
  }
  return record as R;
}

function encodeFields(fields: readonly Field[], record: object): Record<string, SqlValue> {
  const row: Record<string, SqlValue> = {};
  for (const field of fields) {
    const value = checked(field, (record as Record<string, unknown>)[field.name]);
    row[field.name] = value === null ? null : codecs[field.kind].encode(value);
  }
  return row;
}
