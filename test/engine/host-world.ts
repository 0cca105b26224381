/** A host with orders of its own, whose transactions the engine's commits are part of. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import pg from "pg";
import type { EngineStorage } from "paystate/storage";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { databasesOfProject } from "../programs/project-of-run.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";

/** Where a test's commits go: what `within` takes on each database. */
export type Host = pg.PoolClient | Sqlite.Database;

/** The host's connection, on which it opens its transactions. */
export interface HostConnection {
  readonly host: Host;
  ask(sql: string): Promise<readonly unknown[]>;
}

export interface HostDatabase {
  /** The host's table of orders, with a text `id` each. */
  readonly orders: string;
  /** What a process of its own finds the database by. */
  readonly place: readonly string[];
  open(): Promise<EngineStorage>;
  connect(): Promise<HostConnection>;
  /** A connection to a database that the storage is not on. */
  elsewhere(): Promise<HostConnection>;
  destroy(): Promise<void>;
}

const SQLITE_ORDERS = "hostOrders";

async function sqliteHost(): Promise<HostDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "paystate-"));
  const open: Sqlite.Database[] = [];
  const connected = (file: string): HostConnection => {
    const host = new Sqlite(join(folder, file));
    open.push(host);
    return {
      host,
      async ask(sql) {
        const statement = host.prepare(sql);
        return statement.reader ? statement.all() : [statement.run()];
      },
    };
  };
  return {
    orders: SQLITE_ORDERS,
    place: [join(folder, "shop.db"), "", SQLITE_ORDERS],
    async open() {
      const storage = await sqliteStorage(join(folder, "shop.db"));
      const host = new Sqlite(join(folder, "shop.db"));
      host.exec(`create table if not exists ${SQLITE_ORDERS} (id text primary key)`);
      host.close();
      return storage;
    },
    connect: async () => connected("shop.db"),
    elsewhere: async () => connected("other.db"),
    async destroy() {
      for (const host of open) host.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function postgresHost(): Promise<HostDatabase> {
  const { url, schema, open, destroy } = await postgresDatabase();
  const orders = `public.orders_of_${schema}`;
  const pool = new pg.Pool({ connectionString: url });
  await pool.query(`create table ${orders} (id text primary key)`);
  const clients: pg.PoolClient[] = [];
  const asking = (client: pg.PoolClient): HostConnection => {
    clients.push(client);
    return { host: client, ask: async (sql) => (await client.query<object>(sql)).rows };
  };
  return {
    orders,
    place: [url, schema, orders],
    open,
    connect: async () => asking(await pool.connect()),
    async elsewhere() {
      const other = new pg.Pool({ connectionString: url.replace(/\/[^/?]*(\?|$)/, "/template1$1"), max: 1 });
      const client = await other.connect();
      void other.end();
      return asking(client);
    },
    async destroy() {
      for (const client of clients) client.release(true);
      await pool.query(`drop table ${orders}`);
      await pool.end();
      await destroy();
    },
  };
}

export const hostDatabases = databasesOfProject<{
  readonly name: string;
  readonly make: () => Promise<HostDatabase>;
}>([{ name: "SQLite", make: sqliteHost }], HAS_POSTGRES ? [{ name: "PostgreSQL", make: postgresHost }] : []);
