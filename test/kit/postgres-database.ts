/** A schema of its own in the PostgreSQL server of the run, and storages on it. */
import pg from "pg";
import { paymentTables } from "../../src/payments/payment-storage.ts";
import { moveToPostgres } from "../../storage/move.ts";
import { type PostgresOptions, type PostgresStorage, postgresStorage } from "../../storage/postgres.ts";
import { postgresUrl } from "../programs/ask-postgres.ts";

/** An empty schema. */
export interface PostgresDatabase {
  readonly url: string;
  readonly schema: string;
  /** Another handle on the same data, as another process would have: it goes by the caller's clock. */
  open(options?: PostgresOptions): Promise<PostgresStorage>;
  /** Gives the schema to a later test. Every handle is closed by then. */
  destroy(): Promise<void>;
}

/** Storages of one process share their connections: thousands of tests open some each. */
let shared: pg.Pool | null = null;

/** Making a schema takes ten times as long as emptying one. */
const emptied: string[] = [];
let schemas = 0;

export async function postgresDatabase(): Promise<PostgresDatabase> {
  const url = await postgresUrl();
  const schema = emptied.pop() ?? freshSchema();
  return {
    url,
    schema,
    open: openIn(url, schema),
    async destroy() {
      await poolOf(url).query(emptying(schema));
      emptied.push(schema);
    },
  };
}

/** What opens a schema to which an SQLite file was moved. */
export async function movedDatabase(from: string): Promise<PostgresDatabase["open"]> {
  const url = await postgresUrl();
  const schema = freshSchema();
  await moveToPostgres({ from, to: url, schema });
  return openIn(url, schema);
}

function poolOf(url: string): pg.Pool {
  return (shared ??= new pg.Pool({ connectionString: url, max: 10, allowExitOnIdle: true }));
}

function freshSchema(): string {
  schemas += 1;
  return `test_${process.pid}_${process.env["VITEST_POOL_ID"] ?? "0"}_${schemas}`;
}

function openIn(url: string, schema: string): PostgresDatabase["open"] {
  return (options = {}) => postgresStorage(poolOf(url), { schema, clock: "caller", ...options });
}

/** The tables of payments stay, without a row; those of single tests go. */
const emptying = (schema: string): string => `
  do $$
  declare
    name text;
    kept text[] := array[${Object.values(paymentTables)
      .map(({ sqlName }) => `'${sqlName}'`)
      .join(", ")}];
  begin
    set local search_path to "${schema}";
    if to_regclass('"paystateTables"') is null then return; end if;
    for name in select t.name from "paystateTables" t where t.name <> all(kept) loop
      execute format('drop table %I', name);
    end loop;
    delete from "paystateTables" t where t.name <> all(kept);
    for name in select tablename from pg_tables where schemaname = '${schema}' and tablename not in
      ('paystateTables', 'paystateSchema')
      -- Behind the rows that are counted in it.
      order by tablename = 'paystateTotals'
    loop
      execute format('delete from %I', name);
    end loop;
  end $$`;
