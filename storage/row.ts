/** Rows checked by the description of their table: what one adapter refuses, every adapter refuses. */
import type { Column, ColumnKind } from "./table.ts";

/** The description needed to check and copy rows. */
export interface DescribedTable {
  readonly columns: object;
  /** Names the field whose amounts are summed, if any. */
  readonly group?: { readonly sum?: string } | null;
}

/** The field that marks a bigint in JSON: a bigint becomes an object with this single field. */
export const BIGINT = "$bigint";

const isString = (value: unknown): value is string => typeof value === "string";

function isJson(value: unknown): boolean {
  if (value === null || isString(value)) return true;
  if (typeof value === "boolean" || typeof value === "bigint") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.entries(value).every(([name, each]) => name !== BIGINT && isJson(each));
}

const isOfKind: { readonly [K in ColumnKind]: (value: unknown) => boolean } = {
  text: isString,
  integer: Number.isSafeInteger,
  amount: (value) => typeof value === "bigint",
  boolean: (value) => typeof value === "boolean",
  bytes: (value) => value instanceof Uint8Array,
  json: (value) => value !== null && isJson(value),
};

/** A field of a table, its kind and whether it may be null. */
export interface Field {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly nullable: boolean;
  /** Whether a database sums the amounts of the field: they are not negative, and have 27 digits at most. */
  readonly isSummed?: boolean;
}

const known = new WeakMap<DescribedTable, readonly Field[]>();

/** The fields of a table, in the order of its description. */
export function fieldsOf(table: DescribedTable): readonly Field[] {
  const found = known.get(table);
  if (found !== undefined) return found;
  const sum = table.group?.sum;
  const all = Object.entries(table.columns as Readonly<Record<string, Column>>).map(field);
  const fields = all.map((each) => (each.name === sum ? { ...each, isSummed: true } : each));
  known.set(table, fields);
  return fields;
}

export const columnsOf = (table: DescribedTable): readonly string[] =>
  fieldsOf(table).map(({ name }) => name);

function field([name, column]: [string, Column]): Field {
  const nullable = column.endsWith("?");
  return { name, kind: (nullable ? column.slice(0, -1) : column) as ColumnKind, nullable };
}

const SUMMED_BELOW = 10n ** 27n;

/** The value, if the field can hold it. @throws TypeError when it is missing or of another kind. */
export function checked({ name, kind, nullable, isSummed = false }: Field, value: unknown): unknown {
  if (isSummed && typeof value === "bigint" && (value < 0n || value >= SUMMED_BELOW)) {
    throw new TypeError(`${name} is summed, and takes no amount below 0 or with more than 27 digits`);
  }
  if ((value === null && nullable) || isOfKind[kind](value)) return value;
  throw new TypeError(`${name} must be ${kind}${nullable ? " or null" : ""}, not ${describe(value)}`);
}

/** Describes a given value without its content, which may be a secret. */
function describe(value: unknown): string {
  return typeof value === "number" ? String(value) : value === null ? "null" : typeof value;
}

export const givenFields = (table: DescribedTable, changes: object): readonly Field[] =>
  fieldsOf(table).filter(({ name }) => name in changes);

/** Checks fields of a record, and maps their values. */
export function mapped<V>(
  fields: readonly Field[],
  record: object,
  map: (value: unknown, field: Field) => V,
): Record<string, V> {
  const values = record as Readonly<Record<string, unknown>>;
  const made: Record<string, V> = {};
  for (const each of fields) made[each.name] = map(checked(each, values[each.name]), each);
  return made;
}
