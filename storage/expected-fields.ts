/** What a write expects of its row, checked against the table: the same for every adapter. */
import { fieldNamed } from "./query.ts";
import { checked, type Field } from "./row.ts";
import type { AnyExpectation, AnyRemoval, AnyUpdate, Unexpired } from "./storage.ts";
import type { AnyTable } from "./table.ts";

/** Kinds whose values every database compares alike. */
const COMPARED: ReadonlySet<string> = new Set(["text", "integer", "boolean"]);

/**
 * The fields that a removal names, each with the value that its row must have.
 *
 * @throws TypeError when rows of the table are never removed, or a value is none that can be compared.
 */
export function expectedFields(
  table: AnyTable,
  { expected = {} }: AnyRemoval,
): readonly (readonly [field: Field, value: unknown])[] {
  if (table.appendOnly) throw new TypeError(`rows of ${table.name} are never removed`);
  return Object.entries(expected).map(([name, value]) => {
    const field = fieldNamed(table, name);
    if (!COMPARED.has(field.kind)) {
      throw new TypeError(`expected: ${name} of ${table.name} is no text, integer or boolean`);
    }
    return [field, checked(field, value)];
  });
}

/**
 * The field that says until when a row may be changed.
 *
 * @throws TypeError when it is no integer, and so no time.
 */
export function timeField(table: AnyTable, { field }: Unexpired): Field {
  const found = fieldNamed(table, field);
  if (found.kind !== "integer") throw new TypeError(`unexpired: ${field} of ${table.name} is no integer`);
  return found;
}

/**
 * Whether a row is what a write expects of it. Null where there is no such row.
 *
 * @throws TypeError when the write is wrong for its table: rows that are never changed or removed, a version that there is
 * none of, a value that cannot be compared.
 *
 * @example
 * ```ts
 * import { defineTable } from "paystate/engine";
 * import { isAsExpected } from "paystate/storage";
 *
 * const orders = defineTable("orders", { columns: { id: "text", paidAt: "integer?" } });
 * const removal = { table: "orders", remove: "o-1", expected: { paidAt: null } };
 * console.log(isAsExpected(orders, { id: "o-1", paidAt: null }, removal)); // true
 * console.log(isAsExpected(orders, { id: "o-1", paidAt: 7 }, removal)); // false
 * ```
 */
export function isAsExpected(
  table: AnyTable,
  row: Readonly<Record<string, unknown>> | null,
  write: AnyUpdate | AnyExpectation | AnyRemoval,
): boolean {
  if ("remove" in write) {
    const expected = expectedFields(table, write);
    return row !== null && expected.every(([{ name }, value]) => row[name] === value);
  }
  const version = "set" in write ? write.expectedVersion : write.expectVersion;
  if (version !== undefined && !("version" in table.columns)) {
    throw new TypeError(`${table.name} has no version`);
  }
  if (!("set" in write)) return Number(row?.["version"] ?? 0) === version;
  if (table.appendOnly) throw new TypeError(`rows of ${table.name} are never changed`);
  const { unexpired } = write;
  const until = unexpired === undefined ? null : timeField(table, unexpired).name;
  if (row === null || (version !== undefined && row["version"] !== version)) return false;
  return unexpired === undefined || until === null || Number(row[until] ?? 0) > unexpired.now;
}
