/** Every migration in order, and how to bring a database up to the last. Released ones stay; new ones go below. */
import { StorageUnusable } from "../../storage-unusable.ts";
import { engine } from "./0001-engine.ts";
import { stamps } from "./0002-stamps.ts";
import { leases } from "./0003-leases.ts";
import { limits } from "./0004-limits.ts";
import type { SchemaDialect } from "./dialect.ts";

const migrations: Readonly<Record<string, (dialect: SchemaDialect) => readonly string[]>> = {
  "0001-engine": engine,
  "0002-stamps": stamps,
  "0003-leases": leases,
  "0004-limits": limits,
};

/** What a database has that holds the tables of payments beside those of the engine, as none has been released. */
const BEFORE_TABLES = "0001-initial";

/** Runs one statement, and answers its rows. */
export type Execute = (sql: string) => Promise<readonly object[]>;

/**
 * Looks at what was applied before, in one schema where the database has several.
 * @returns whether the database has every migration; if not, `migrate` it under a lock.
 * @throws StorageUnusable `newer_schema` when it has one that this code does not know, `old_schema` when it is
 * of the time before callers brought their tables, `foreign_database` when it has tables but none of ours.
 */
export async function isCurrent(execute: Execute, dialect: SchemaDialect, schema?: string): Promise<boolean> {
  const tables = namesIn(await execute(dialect.tableNames(schema)));
  if (!tables.includes("paystateMigrations")) {
    if (tables.length === 0) return false;
    throw new StorageUnusable(
      "foreign_database",
      schema === undefined
        ? "this database holds tables that are not paystate's: give paystate a database of its own"
        : `the schema ${schema} holds tables that are not paystate's: give paystate a schema of its own`,
    );
  }
  const applied = await appliedIn(execute);
  if (applied.includes(BEFORE_TABLES)) {
    throw new StorageUnusable(
      "old_schema",
      "this database was written by a paystate from before its first release, which cannot be read any more: " +
        "let that version finish its work, then give this one a new file",
    );
  }
  const unknown = applied.filter((name) => !(name in migrations));
  if (unknown.length > 0) {
    throw new StorageUnusable(
      "newer_schema",
      `this database was written by a newer paystate (${unknown.join(", ")}): upgrade paystate, or restore a backup from before`,
    );
  }
  return applied.length === Object.keys(migrations).length;
}

/** Applies the missing migrations. The caller holds the lock or transaction that keeps other processes out. */
export async function migrate(execute: Execute, dialect: SchemaDialect, schema?: string): Promise<void> {
  // Named with its schema, so that a role which may not use that is told so.
  const place = schema === undefined ? "" : `"${schema}".`;
  await execute(`create table if not exists ${place}"paystateMigrations"
    (name varchar(255) not null primary key, timestamp varchar(255) not null)`);
  const applied = await appliedIn(execute);
  for (const [name, statements] of Object.entries(migrations)) {
    if (applied.includes(name)) continue;
    for (const statement of statements(dialect)) await execute(statement);
    await execute(
      `insert into "paystateMigrations" values ('${name}', cast(current_timestamp as varchar(255)))`,
    );
  }
}

const appliedIn = async (execute: Execute): Promise<readonly string[]> =>
  namesIn(await execute(`select name from "paystateMigrations"`));

const namesIn = (rows: readonly object[]): readonly string[] =>
  (rows as readonly { readonly name: string }[]).map(({ name }) => name);
