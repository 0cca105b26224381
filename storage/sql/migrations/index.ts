/**
 * All migrations in order, and the upgrade of a database to the last. Released migrations stay; add new ones below. The
 * name of a migration says the oldest program that can work on beside it: `0007-what-beside-0004` allows programs that
 * know all migrations up to 0004. A name without `beside` allows only programs that know the migration itself. Tables and
 * indexes of the engine's are marked, as `{@tasks}`: not every database calls them so.
 */
import { type Kysely, type Migration, Migrator, sql } from "kysely";
import { StorageUnusable } from "../../storage-unusable.ts";
import { TOTALS, totalsTable } from "../group-totals.ts";
import { engine } from "./0001-engine.ts";
import { stamps } from "./0002-stamps.ts";
import { limits } from "./0004-limits.ts";
import { limitsAtRunTime } from "./0008-limits-at-run-time.ts";
import { type NameOf, plainName, prefixedName, withNames } from "../statement.ts";
import type { SchemaDialect } from "./dialect.ts";
import { assertNeeds, type EnginePlace } from "./needs.ts";

const migrations: Readonly<Record<string, (dialect: SchemaDialect) => readonly string[]>> = {
  "0001-engine": engine,
  "0002-stamps": stamps,
  /** Named leases take the place of those on shards of watches, and of the watch that retention had for one. */
  "0003-leases": ({ table }) => [
    table("paystateLeases", {
      columns: { name: "text", holder: "text", until: "integer", ms: "integer" },
      key: ["name"],
    }),
    `drop table "{@watchShards}"`,
    "delete from {@watches} where kind in ('$keep finished', '$keep payments')",
  ],
  "0004-limits": limits,
  /** A task keeps the delay that it waits by. The delays of stored tasks are unknown: stored tasks keep their moment. */
  "0005-delays": ({ types }) => [`alter table {@tasks} add column "delayMs" ${types.integer}`],
  /** Totals of groups, which the triggers of the caller's tables keep: programs without them write as before. */
  "0006-totals-beside-0005": ({ table }) => [table(TOTALS, totalsTable)],
  /** Rows of the history never change: its pages keep no room for that any more. */
  "0007-full-pages-beside-0005": ({ settled }) => settled("{@history}"),
  "0008-limits-at-run-time-beside-0005": limitsAtRunTime,
};

/** The migration of databases with the tables of payments beside those of the engine, none of which was released. */
const BEFORE_TABLES = "0001-initial";

/**
 * Noted as the first migration where names have a prefix, as in every new file of SQLite. A program from before, which looks for
 * other names, takes the file for one of a newer program, and leaves it alone.
 */
export const PREFIXED = "0000-prefixed";

/** The last that this program knows. */
const NEWEST = Object.keys(migrations).length;

const isBeside = (name: string): boolean => Number(/-beside-(\d{4})$/.exec(name)?.[1] ?? Infinity) <= NEWEST;

/** The names of the applied migrations. */
export const MIGRATIONS_TABLE = "paystateMigrations";
/** Kysely's own lock among programs that migrate. */
export const LOCK_TABLE = "paystateMigrationLock";

/**
 * Looks at what was applied before, in one schema where the database has several.
 * @returns whether the database has every migration; if not, `migrate` it under a lock.
 * @throws StorageUnusable `newer_schema` when a migration excludes this program, `old_schema` when the schema is older
 * than callers' tables, or differs from the result of its migrations, `foreign_database` when a schema has tables but
 * none of ours. A file of SQLite may hold those of a host beside ours.
 */
export async function isCurrent(
  db: Kysely<unknown>,
  dialect: SchemaDialect,
  schema?: string,
): Promise<boolean> {
  const { rows: found } = await dialect.tableNames(schema).execute(db);
  const tables = found.map(({ name }) => name);
  if (!tables.includes(MIGRATIONS_TABLE)) {
    if (tables.length === 0 || schema === undefined) return false;
    throw new StorageUnusable(
      "foreign_database",
      `the schema ${schema} holds tables that are not paystate's: give paystate a schema of its own`,
    );
  }
  const applied = await appliedTo(db);
  if (applied.includes(BEFORE_TABLES)) {
    throw new StorageUnusable(
      "old_schema",
      "this database was written by a paystate from before its first release, which cannot be read any more: " +
        "let that version finish its work, then give this one a new file",
    );
  }
  const unknown = unknownOf(applied);
  const isBehind = Object.keys(migrations).some((name) => !applied.includes(name));
  const refused = unknown.filter((name) => isBehind || !isBeside(name));
  if (refused.length > 0) throw newerSchema(refused);
  if (isBehind) return false;
  await assertNeeds(db, dialect, { schema, nameOf: nameOfNoted(applied) });
  return true;
}

async function appliedTo(db: Kysely<unknown>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(MIGRATIONS_TABLE)}`.execute(db);
  return rows.map(({ name }) => name);
}

const nameOfNoted = (applied: readonly string[]): NameOf =>
  applied.includes(PREFIXED) ? prefixedName : plainName;

const unknownOf = (applied: readonly string[]): readonly string[] =>
  applied.filter((name) => name !== PREFIXED && !(name in migrations));

/** @throws StorageUnusable `newer_schema` when there is a migration which this program does not know, also beside which it can work. */
export async function assertAllKnown(db: Kysely<unknown>): Promise<void> {
  const unknown = unknownOf(await appliedTo(db));
  if (unknown.length > 0) throw newerSchema(unknown);
}

const newerSchema = (unknown: readonly string[]): StorageUnusable =>
  new StorageUnusable(
    "newer_schema",
    `this database was written by a newer paystate (${unknown.join(", ")}): upgrade paystate, or restore a backup from before`,
  );

/** Applies the missing migrations. The caller holds the lock or transaction that keeps other processes out. */
export async function migrate(
  db: Kysely<unknown>,
  dialect: SchemaDialect,
  { schema, nameOf }: EnginePlace,
): Promise<void> {
  const all = nameOf === prefixedName ? { [PREFIXED]: () => [], ...migrations } : migrations;
  const named = Object.entries(all).map(([name, statementsFor]): [string, Migration] => [
    name,
    {
      async up(connection) {
        for (const text of statementsFor(dialect)) {
          await sql.raw(withNames(text, nameOf)).execute(connection);
        }
      },
    },
  ]);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async (): Promise<Record<string, Migration>> => Object.fromEntries(named) },
    migrationTableName: MIGRATIONS_TABLE,
    migrationLockTableName: LOCK_TABLE,
    disableTransactions: true,
    // Otherwise tables of a different schema would be mistaken for tables of this schema.
    ...(schema === undefined ? {} : { migrationTableSchema: schema }),
  });
  const { error } = await migrator.migrateToLatest();
  if (error instanceof Error) throw error;
  if (error !== undefined) throw new Error("a migration failed", { cause: error });
}
