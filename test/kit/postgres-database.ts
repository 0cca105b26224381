/** A schema of its own in the PostgreSQL server of the run, and storages on it. */
import pg from "pg";
import { type PostgresOptions, type PostgresStorage, postgresStorage } from "../../storage/postgres.ts";
import { postgresUrl } from "../programs/ask-postgres.ts";

/** An empty schema. */
export interface PostgresDatabase {
  readonly url: string;
  readonly schema: string;
  /** Another handle on the same data, as another process would have: it goes by the caller's clock. */
  open(options?: PostgresOptions): Promise<PostgresStorage>;
  /** Removes the schema. Every handle is closed by then. */
  destroy(): Promise<void>;
}

let schemas = 0;

/** Storages of one process share their connections: thousands of tests open some each. */
let shared: pg.Pool | null = null;

export async function postgresDatabase(): Promise<PostgresDatabase> {
  const url = await postgresUrl();
  const pool = (shared ??= new pg.Pool({ connectionString: url, max: 10, allowExitOnIdle: true }));
  schemas += 1;
  const schema = `test_${process.pid}_${process.env["VITEST_POOL_ID"] ?? "0"}_${schemas}`;
  return {
    url,
    schema,
    open: (options = {}) => postgresStorage(pool, { schema, clock: "caller", ...options }),
    async destroy() {
      await pool.query(`drop schema if exists "${schema}" cascade`);
    },
  };
}
