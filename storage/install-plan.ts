/** Decides what installing a table takes: nothing, creating it, migrating it, or a refusal. Pure; every adapter asks it. */
import { StorageUnusable } from "./storage-unusable.ts";
import type { AnyTable, Migration } from "./table.ts";

/** What lies in the database of a table: what its description says besides is only about reads and writes to come. */
export type Definition = Pick<AnyTable, "columns" | "key" | "unique" | "indexes">;

/**
 * The definition as text, to be kept beside the rows: equal texts are equal tables.
 *
 * @example
 * ```ts
 * import { defineTable } from "paystate/engine";
 * import { definitionOf } from "paystate/storage";
 *
 * const a = defineTable("marks", { columns: { id: "text", by: "text" } });
 * const b = defineTable("marks", { columns: { by: "text", id: "text" } });
 * console.log(definitionOf(a) === definitionOf(b)); // true
 * ```
 */
export function definitionOf({ columns, key, unique, indexes }: AnyTable): string {
  const sorted = <V>(of: Readonly<Record<string, V>>): Record<string, V> =>
    Object.fromEntries(Object.entries(of).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const whole = Object.entries(indexes).map(([name, { on, where, present }]) => [
    name,
    { on, where: sorted(where), present: present.toSorted() },
  ]);
  const definition: Definition = {
    columns: sorted(columns),
    key,
    unique: unique.toSorted(),
    indexes: sorted(Object.fromEntries(whole) as AnyTable["indexes"]),
  };
  return JSON.stringify(definition);
}

/**
 * What installing a table takes: to create it, to keep it, or to carry out a plan, after which what is stored of it is
 * `definitionOf(table)` and the number of its migrations. `stored` is null where there is no such table yet.
 *
 * @throws StorageUnusable `newer_schema` or `other_table`, as `install` does.
 *
 * @example
 * ```ts
 * import { defineTable } from "paystate/engine";
 * import { definitionOf, planInstall } from "paystate/storage";
 *
 * const marks = defineTable("marks", { columns: { id: "text" } });
 * console.log(planInstall(marks, null)); // create
 * console.log(planInstall(marks, { definition: definitionOf(marks), migrations: 0 })); // keep
 * ```
 */
export function planInstall(
  table: AnyTable,
  stored: { readonly definition: string; readonly migrations: number } | null,
):
  | "create"
  | "keep"
  | {
      readonly steps: readonly Migration[];
      /** What the table had before. */
      readonly before: Pick<AnyTable, "columns" | "key" | "unique" | "indexes">;
    } {
  if (stored === null) return "create";
  const { name, migrations } = table;
  if (stored.migrations > migrations.length) {
    throw new StorageUnusable(
      "newer_schema",
      `the table ${name} has seen ${stored.migrations} migrations and this program knows ${migrations.length}: ` +
        "run the newer program, or restore a backup from before",
    );
  }
  const definition = definitionOf(table);
  const steps = migrations.slice(stored.migrations);
  if (steps.length === 0) {
    if (stored.definition === definition) return "keep";
    throw otherTable(name, "it is stored with another definition: add a migration to its description");
  }
  const before = JSON.parse(stored.definition) as Definition;
  const columns = new Map(Object.entries(before.columns));
  for (const { add = {}, drop = [] } of steps) {
    for (const field of drop) columns.delete(field);
    for (const field of Object.keys(add)) columns.set(field, table.columns[field] ?? "text?");
  }
  const after = JSON.stringify([...columns].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  if (before.key !== table.key) throw otherTable(name, `its key is ${before.key} and cannot change`);
  const wanted = JSON.stringify(Object.entries((JSON.parse(definition) as Definition).columns));
  if (after !== wanted) {
    throw otherTable(name, "its migrations do not lead from the stored columns to the described ones");
  }
  return { steps, before };
}

const otherTable = (name: string, why: string): StorageUnusable =>
  new StorageUnusable("other_table", `the table ${name} is not as described: ${why}`);

/**
 * A table is read or written that was never installed in this storage: a mistake of the caller.
 *
 * @example
 * ```ts
 * import { defineTable } from "paystate/engine";
 * import { NotInstalled } from "paystate/storage";
 * import { memoryStorage } from "paystate/storage/memory";
 *
 * const marks = defineTable("marks", { columns: { id: "text" } });
 * await memoryStorage()
 *   .get(marks, "m-1")
 *   .catch((error: unknown) => console.log(error instanceof NotInstalled)); // true
 * ```
 */
export class NotInstalled extends TypeError {
  constructor(table: string) {
    super(`the table ${table} is not installed: give it to createEngine, or to install()`);
  }
}
