/** Checks a read against its table and takes it apart: the same for every adapter. */
import { checkLimit } from "./check-limit.ts";
import type { RowQuery } from "./storage.ts";
import { checked, type DescribedTable, type Field, fieldsOf } from "./row.ts";
import type { AnyTable, Index } from "./table.ts";

/** A read of any table. */
export type AnyQuery = Omit<RowQuery<object>, "table" | "equals" | "anyOf"> & {
  readonly table: AnyTable;
  readonly equals?: object;
  readonly anyOf?: readonly [field: string, values: readonly string[]];
  readonly sum?: string;
  readonly recount?: boolean;
};

/** A read of one table, apart from how far it goes. */
export type SelectionQuery = ReturnType<typeof selectionOf>;

const WHOLE: Index = { on: [], where: {}, present: [] };

/**
 * The rows of a read and their order, by the description of the table. Direction, `beyond` and `limit` are left to the
 * adapter.
 *
 * @throws TypeError when the table has no such index, a value is not one of the fields in its turn, `anyOf` names a field that
 * no index finds, `sum` is no amount, or `limit` is no whole number from 0.
 */
export function selectionOf(
  table: AnyTable,
  query: AnyQuery,
): {
  readonly index: Index;
  readonly equals: readonly (readonly [field: Field, value: unknown])[];
  /** A field with the list of its permitted values. */
  readonly anyOf: { readonly field: string; readonly values: readonly string[] } | null;
  readonly order: readonly Field[];
  readonly after: readonly (readonly [field: Field, value: unknown])[];
} {
  const { index: name, equals = {}, after = [], sum, limit } = query;
  if (limit !== undefined) checkLimit(table.name, limit);
  if (sum !== undefined && fieldNamed(table, sum).kind !== "amount") {
    throw new TypeError(`${table.name}: ${sum} is no amount`);
  }
  const index = indexNamed(table, name);
  const fields = index.on.map((field) => fieldNamed(table, field));
  const given = Object.keys(equals).length;
  const fixed = fields.slice(0, given).map((field): [Field, unknown] => {
    if (!(field.name in equals)) {
      throw new TypeError(
        `${table.name}: equals must name the first fields of the index, and ${field.name} is one`,
      );
    }
    return [field, checked(field, (equals as Readonly<Record<string, unknown>>)[field.name])];
  });
  const order = fields.slice(given);
  if (fixed.length < given || after.length > order.length) {
    throw new TypeError(`${table.name}: the index has ${fields.length} fields, and more were given`);
  }
  const place = order
    .slice(0, after.length)
    .map((field, at): [Field, unknown] => [field, checked({ ...field, nullable: false }, after[at])]);
  return { index, equals: fixed, anyOf: anyOfOf(table, query), order, after: place };
}

function anyOfOf(table: AnyTable, { anyOf }: AnyQuery): SelectionQuery["anyOf"] {
  if (anyOf === undefined) return null;
  const [field, values] = anyOf;
  const firsts = [table.key, ...table.unique, ...Object.values(table.indexes).map(({ on }) => on[0])];
  const described = fieldNamed(table, field);
  if (described.kind !== "text" || !firsts.includes(field)) {
    throw new TypeError(`${table.name}: anyOf takes a text field, the key or the first of an index`);
  }
  for (const value of values) checked({ ...described, nullable: false }, value);
  return { field, values };
}

function indexNamed(table: AnyTable, name: string | undefined): Index {
  if (name === undefined) return WHOLE;
  if (name === "key") return { ...WHOLE, on: [table.key] };
  const index = table.indexes[name] ?? (table.unique.includes(name) ? { ...WHOLE, on: [name] } : undefined);
  if (index === undefined) throw new TypeError(`${table.name} has no index ${JSON.stringify(name)}`);
  return index;
}

/** @throws TypeError when the table has no such field. */
export function fieldNamed(table: DescribedTable & { readonly name: string }, name: string): Field {
  const field = fieldsOf(table).find((each) => each.name === name);
  if (field === undefined) throw new TypeError(`${table.name} has no field ${JSON.stringify(name)}`);
  return field;
}
