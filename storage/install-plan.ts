/** Plans the installation of a table: nothing, a creation, a migration, or a refusal. Pure; every adapter uses the plan. */
import { StorageUnusable } from "./storage-unusable.ts";
import type { AnyTable, Index, Migration } from "./table.ts";

/** The stored part of a table's description: the rest of a description only affects future reads and writes. */
export interface TableSchema extends Pick<AnyTable, "columns" | "key" | "unique" | "indexes"> {
  /** The number of migrations that a program must know to use the table; absent when a program must know all. */
  readonly oldest?: number;
}

/**
 * The definition as text, to be kept beside the rows: equal texts are equal tables.
 */
export function definitionOf({ columns, key, unique, indexes, migrations }: AnyTable): string {
  const oldest = migrations.findLastIndex(({ beside = false }) => !beside) + 1;
  const inOrder = <V>(of: Readonly<Record<string, V>>): Record<string, V> =>
    Object.fromEntries(sorted(Object.entries(of)));
  const whole = Object.entries(indexes).map(([name, { on, where, present }]): [string, Index] => [
    name,
    { on, where: inOrder(where), present: present.toSorted() },
  ]);
  const definition: TableSchema = {
    columns: inOrder(columns),
    key,
    unique: unique.toSorted(),
    indexes: inOrder(Object.fromEntries(whole)),
    ...(oldest < migrations.length ? { oldest } : {}),
  };
  return JSON.stringify(definition);
}

/**
 * The plan to install a table: create it, keep it, or run migrations, after which the stored definition is
 * `definitionOf(table)` with the number of its migrations. "keep" also when newer programs have added columns that this
 * program need not know: then keep the stored definition too, and insert rows with null in those columns. `stored` is
 * null when the table does not exist yet.
 *
 * @throws StorageUnusable `newer_schema` or `other_table`, as `install` does.
 */
export function planInstall(
  table: AnyTable,
  stored: { readonly definition: string; readonly migrations: number } | null,
):
  | "create"
  | "keep"
  | {
      readonly steps: readonly Migration[];
      readonly before: Pick<AnyTable, "columns" | "key" | "unique" | "indexes">;
    } {
  if (stored === null) return "create";
  const { name, migrations } = table;
  if (stored.migrations > migrations.length) {
    if (serves(table, stored)) return "keep";
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
  const before = JSON.parse(stored.definition) as TableSchema;
  if (before.key !== table.key) throw otherTable(name, `its key is ${before.key} and cannot change`);
  const { add, drop } = together(steps, before);
  const kept = Object.entries(before.columns).filter(([field]) => !drop.includes(field));
  const made = Object.keys(add).map((field) => [field, table.columns[field] ?? "text?"] as const);
  if (JSON.stringify(sorted([...kept, ...made])) !== JSON.stringify(sorted(Object.entries(table.columns)))) {
    throw otherTable(name, "its migrations do not lead from the stored columns to the described ones");
  }
  return { steps: [{ add, drop }], before };
}

type StoredTable = NonNullable<Parameters<typeof planInstall>[1]>;

/** Whether a program with this older table can use the table of newer programs. */
function serves(
  { columns, unique, migrations }: AnyTable,
  { definition, migrations: seen }: StoredTable,
): boolean {
  const { oldest = seen, ...now } = JSON.parse(definition) as TableSchema;
  return (
    migrations.length >= oldest &&
    Object.entries(columns).every(([field, column]) => now.columns[field] === column) &&
    unique.every((field) => now.unique.includes(field))
  );
}

/** Migrations as one: what is added and dropped again never was. */
function together(steps: readonly Migration[], before: TableSchema): Required<Omit<Migration, "beside">> {
  const added = new Map<string, NonNullable<Migration["add"]>[string]>();
  const dropped = new Set<string>();
  for (const { add = {}, drop = [] } of steps) {
    for (const field of drop) if (!added.delete(field) && field in before.columns) dropped.add(field);
    for (const [field, value] of Object.entries(add)) added.set(field, value);
  }
  return { add: Object.fromEntries(added), drop: [...dropped] };
}

const sorted = <V>(fields: readonly (readonly [field: string, value: V])[]) =>
  fields.toSorted(([a], [b]) => (a < b ? -1 : 1));

const otherTable = (name: string, why: string): StorageUnusable =>
  new StorageUnusable("other_table", `the table ${name} is not as described: ${why}`);

/**
 * A table is read or written that was never installed in this storage: a mistake of the caller.
 *
 * @example
 * ```ts
 * import { defineTable } from "paystate/engine";
 * import { NotInstalled } from "paystate/storage";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 *
 * const marks = defineTable("marks", { columns: { id: "text" } });
 * const storage = await sqliteStorage(":memory:");
 * await storage.find({ table: marks }).catch((error: unknown) => console.log(error instanceof NotInstalled)); // true
 * ```
 */
export class NotInstalled extends TypeError {
  constructor(table: string) {
    super(`the table ${table} is not installed: give it to createEngine, or to install()`);
  }
}
