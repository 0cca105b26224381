/** What a removal or an update expects of its row, checked against the table: the same for every adapter. */
import { fieldNamed } from "./query.ts";
import { checked, type Field } from "./row.ts";
import type { AnyRemoval, Unexpired } from "./storage.ts";
import type { AnyTable } from "./table.ts";

/** Kinds whose values every database compares alike. */
const COMPARED: ReadonlySet<string> = new Set(["text", "integer", "boolean"]);

/**
 * The fields that a removal names, each with the value that its row must have.
 *
 * @throws TypeError when rows of the table are never removed, or a value is none that can be compared.
 *
 * @example
 * ```ts
 * import { defineTable } from "paystate/engine";
 * import { expectedFields } from "paystate/storage";
 *
 * const orders = defineTable("orders", { columns: { id: "text", paidAt: "integer?" } });
 * const removal = { table: "orders", remove: "o-1", expected: { paidAt: null } };
 * console.log(expectedFields(orders, removal).map(([{ name }, value]) => [name, value])); // [ [ 'paidAt', null ] ]
 * ```
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
 *
 * @example
 * ```ts
 * import { defineTable } from "paystate/engine";
 * import { timeField } from "paystate/storage";
 *
 * const offers = defineTable("offers", { columns: { id: "text", endsAt: "integer" } });
 * console.log(timeField(offers, { field: "endsAt", now: Date.now() }).name); // endsAt
 * ```
 */
export function timeField(table: AnyTable, { field }: Unexpired): Field {
  const found = fieldNamed(table, field);
  if (found.kind !== "integer") throw new TypeError(`unexpired: ${field} of ${table.name} is no integer`);
  return found;
}
