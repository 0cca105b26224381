/** Checks a write's expectations of its row against the table: the same for every adapter. */
import { fieldNamed } from "./query.ts";
import { checked, type Field } from "./row.ts";
import type { AnyExpectation, AnyRemoval, AnyUpdate } from "./storage.ts";
import { type AnyTable, COMPARABLE } from "./table.ts";

/**
 * The values that a removal expects in its row. @throws TypeError when rows are never removed, or a value cannot be compared.
 */
export function expectedFields(
  table: AnyTable,
  { expected = {} }: AnyRemoval,
): readonly (readonly [field: Field, value: unknown])[] {
  if (table.appendOnly) throw new TypeError(`rows of ${table.name} are never removed`);
  return Object.entries(expected).map(([name, value]) => {
    const field = fieldNamed(table, name);
    if (!COMPARABLE.has(field.kind)) {
      throw new TypeError(`expected: ${name} of ${table.name} is no text, integer or boolean`);
    }
    return [field, checked(field, value)];
  });
}

/** @throws TypeError when rows of the table are never changed, have no version to expect, or no such time. */
export function checkExpected(table: AnyTable, write: AnyUpdate | AnyExpectation): void {
  const { name, columns, appendOnly } = table;
  const version = "set" in write ? write.expectedVersion : write.expectVersion;
  if (version !== undefined && !("version" in columns)) throw new TypeError(`${name} has no version`);
  if (!("set" in write)) return;
  if (appendOnly) throw new TypeError(`rows of ${name} are never changed`);
  const time = write.unexpired?.field;
  if (time !== undefined && fieldNamed(table, time).kind !== "integer") {
    throw new TypeError(`unexpired: ${time} of ${name} is no integer`);
  }
}

/** @throws TypeError when a row could not take the place of another one, or not without being refused. */
export function assertReplaceable({ name, columns, unique, group, ordered, appendOnly }: AnyTable): void {
  const isPlain = unique.length === 0 && group === null && ordered === null && !appendOnly;
  if (isPlain && !("version" in columns)) return;
  throw new TypeError(`put: ${name} has more than a key and indexes`);
}
