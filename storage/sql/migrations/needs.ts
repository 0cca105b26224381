/** Checks that the engine's tables have the form that this program uses, whatever migrations have been noted. */
import type { Kysely } from "kysely";
import { engineTables } from "../../engine-tables.ts";
import { StorageUnusable } from "../../storage-unusable.ts";
import type { NameOf } from "../statement.ts";
import type { SchemaDialect } from "./dialect.ts";

/** Where the engine's tables are, in one schema where the database has several, and what they are called there. */
export interface EnginePlace {
  readonly schema?: string | undefined;
  readonly nameOf: NameOf;
}

/**
 * Further tables, columns and indexes may exist: of a host, of an administrator, of other programs.
 * @throws StorageUnusable `old_schema` with the missing part.
 */
export async function assertNeeds(
  db: Kysely<unknown>,
  dialect: SchemaDialect,
  { schema, nameOf }: EnginePlace,
): Promise<void> {
  const { rows: columns } = await dialect.columns(schema).execute(db);
  const { rows: uniques } = await dialect.uniques(schema).execute(db);
  for (const [name, { columns: needed, key = ["id"] }] of Object.entries(engineTables)) {
    const table = nameOf(name);
    const there = new Set(columns.filter((each) => each.table === table).map(({ column }) => column));
    const missing = Object.keys(needed).filter((column) => !there.has(column));
    if (missing.length > 0) throw lacking(`the table ${table} lacks ${missing.join(", ")}`);
    const keys = uniques
      .filter((each) => each.table === table)
      .map((each) => new Set(each.columns.split(" ")));
    const isKey = (each: ReadonlySet<string>): boolean =>
      each.size === key.length && key.every((column) => each.has(column));
    if (!keys.some(isKey)) {
      throw lacking(`nothing keeps ${key.join(" and ")} unique in the table ${table}`);
    }
  }
}

const lacking = (what: string): StorageUnusable =>
  new StorageUnusable(
    "old_schema",
    `the schema is not the one that this program uses: ${what}. It was made by another build of paystate, or changed by ` +
      "hand: use that build, undo the change, or restore a backup",
  );
