/** Tests of a move: an SQLite file that is to be, a schema of PostgreSQL that is not there yet, and a way to it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { test } from "vitest";
import { postgresStorage, type PostgresStorage } from "../../storage/postgres.ts";
import { postgresUrl } from "../programs/ask-postgres.ts";
import { postgresProxy } from "./postgres-proxy.ts";

let schemas = 0;

/** Where the data goes. */
interface Target {
  /** Carries out SQL past the move; its rows. */
  asked(text: string): Promise<readonly object[]>;
  /** A row for each table that is there. */
  tables(): Promise<readonly object[]>;
  /** A storage on it, closed when the test ends. */
  open(): Promise<PostgresStorage>;
}

/** `move` is what is moved where; `proxy` leads to the server of the target, and fails when it is told to. */
export const moveTest = test
  .extend("move", async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    onCleanup(() => rm(folder, { recursive: true }));
    schemas += 1;
    const schema = `moved_${process.pid}_${schemas}`;
    return { from: join(folder, "payments.db"), to: await postgresUrl(), schema };
  })
  // Also for a test that does not name it: the schema goes when the test ends.
  .extend("target", { auto: true }, async ({ move: { to, schema } }, { onCleanup }): Promise<Target> => {
    const opened: PostgresStorage[] = [];
    const asked = async (text: string): Promise<readonly object[]> => {
      const client = new pg.Client({ connectionString: to });
      await client.connect();
      try {
        return (await client.query<object>(text)).rows;
      } finally {
        await client.end();
      }
    };
    onCleanup(async () => {
      for (const storage of opened) await storage.close();
      await asked(`drop schema if exists "${schema}" cascade`);
    });
    return {
      asked,
      tables: () => asked(`select 1 from pg_tables where schemaname = '${schema}'`),
      async open() {
        const storage = await postgresStorage(to, { schema, clock: "caller" });
        opened.push(storage);
        return storage;
      },
    };
  })
  .extend("proxy", async ({ move: { to } }, { onCleanup }) => {
    const proxy = await postgresProxy(to);
    onCleanup(() => proxy.stop());
    return proxy;
  });
