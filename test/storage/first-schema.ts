/** A database as the first version has made it, for tests of what later versions make of it. */
import type { Database } from "better-sqlite3";
import type pg from "pg";
import { engine } from "../../storage/sql/migrations/0001-engine.ts";
import { postgresSchema, type SchemaDialect, sqliteSchema } from "../../storage/sql/migrations/dialect.ts";
import { listed } from "../../storage/sql/statement.ts";

type Row = Readonly<Record<string, unknown>>;

/** The rows of each table, by its name. */
export type Rows = Readonly<Record<string, readonly Row[]>>;

interface Target {
  readonly dialect: SchemaDialect;
  /** What stands for the value with this number. */
  readonly place: (number: number) => string;
  readonly run: (sql: string, values: readonly unknown[]) => unknown;
}

async function fill({ dialect, place, run }: Target, rows: Rows): Promise<void> {
  for (const creation of engine(dialect)) await run(creation, []);
  await run(
    `create table "paystateMigrations"
      (name varchar(255) not null primary key, timestamp varchar(255) not null)`,
    [],
  );
  const applied = { paystateMigrations: [{ name: "0001-engine", timestamp: "2026-01-01" }] };
  for (const [table, written] of Object.entries({ ...applied, ...rows })) {
    for (const row of written) {
      const places = Object.keys(row).map((_, index) => place(index + 1));
      await run(
        `insert into "${table}" (${listed(Object.keys(row))}) values (${places.join(", ")})`,
        Object.values(row),
      );
    }
  }
}

/** Makes the tables of the first schema in an empty file, with these rows. */
export const fillSqlite = (database: Database, rows: Rows): Promise<void> =>
  fill(
    { dialect: sqliteSchema, place: () => "?", run: (sql, values) => database.prepare(sql).run(values) },
    rows,
  );

/** The same in the schema in which the pool works. */
export const fillPostgres = (pool: pg.Pool, rows: Rows): Promise<void> =>
  fill(
    {
      dialect: postgresSchema,
      place: (number) => `$${number}`,
      run: (sql, values) => pool.query(sql, [...values]),
    },
    rows,
  );
