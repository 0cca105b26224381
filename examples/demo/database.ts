/** Where the demo's service keeps what it knows: a file of SQLite, or a schema of its own in PostgreSQL. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import type { EngineStorage } from "paystate/storage";
import { postgresStorage } from "paystate/storage/postgres";
import { sqliteStorage } from "paystate/storage/sqlite";
import { atTheEnd } from "./clean-up.ts";
import { startPostgres } from "./postgres-server.ts";
import { complain, note } from "./screen.ts";
import type { DemoDatabase } from "./settings.ts";

/** Which database is asked for: that of a URL, one on a server that the demo starts, or a file. */
export type WantedDatabase = { readonly url: string } | "own server" | "file";

/** Makes it ready. What it makes goes with the demo: call this before anything is started that uses the database. */
export async function makeDatabase(wanted: WantedDatabase, folder: string): Promise<DemoDatabase> {
  if (wanted === "file") return { file: join(folder, "payments.db") };
  const isOwn = wanted === "own server";
  const url = isOwn ? await startPostgres() : wanted.url;
  const schema = `paystate_demo_${randomBytes(6).toString("hex")}`;
  // The connection is opened first: an unusable server ends the demo with one sentence before a process is started.
  await (await postgresStorage(url, { schema })).close();
  if (!isOwn) atTheEnd(() => dropSchema(url, schema));
  const { host, pathname } = new URL(url);
  note(`database  postgres://${host}${pathname}, schema ${schema}`);
  return { url, schema };
}

export function openDatabase(database: DemoDatabase): Promise<EngineStorage> {
  if ("file" in database) return sqliteStorage(database.file);
  return postgresStorage(database.url, { schema: database.schema });
}

async function dropSchema(url: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(`drop schema "${schema}" cascade`);
  } catch (error) {
    complain(`demo: the schema ${schema} is still there: drop it (${(error as Error).message})`);
  } finally {
    await client.end().catch(() => {});
  }
}
