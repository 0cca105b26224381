/** All adapters pass the published contract whole. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import pg from "pg";
import { describe, test } from "vitest";
import { paymentStorage } from "../../src/payments/payment-storage.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { NAMESAKES } from "../kit/namesakes.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { memoryStorage } from "../kit/storages.ts";
import { sampled } from "../kit/thorough.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { databasesOfProject } from "../programs/project-of-run.ts";
import { storageContract, type StorageUnderTest } from "../contracts/storage.ts";

async function postgresWithHost(): Promise<StorageUnderTest> {
  const database = await postgresDatabase();
  return {
    ...database,
    async host() {
      const client = new pg.Client(database.url);
      await client.connect();
      return { transaction: client, ask: (sql) => client.query(sql), close: () => client.end() };
    },
  };
}

/** A file that had something in it already. The tables of both are made once, and each case is given a copy. */
function sqliteWith(sql: string): () => Promise<StorageUnderTest> {
  let made: Promise<Uint8Array> | null = null;
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    const path = join(folder, "test.db");
    await writeFile(path, await (made ??= fileWith(sql)));
    return sqliteIn(folder, path);
  };
}

async function fileWith(sql: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "paystate-"));
  const path = join(folder, "made.db");
  new Sqlite(path).exec(sql).close();
  const storage = paymentStorage(await sqliteStorage(path));
  await storage.fact("");
  await storage.close();
  const bytes = await readFile(path);
  await rm(folder, { recursive: true });
  return bytes;
}

function sqliteIn(folder: string, path: string): StorageUnderTest {
  return {
    open: () => sqliteStorage(path),
    async host() {
      const host = new Sqlite(path);
      return { transaction: host, ask: async (asked) => host.exec(asked), close: async () => host.close() };
    },
    destroy: () => rm(folder, { recursive: true }),
  };
}

const adapters: Readonly<Record<string, () => Promise<StorageUnderTest>>> = {
  async "SQLite in memory"() {
    const storage = await memoryStorage();
    return { open: async () => storage, destroy: async () => {} };
  },
  "SQLite beside namesakes of a host's": sqliteWith(NAMESAKES),
};
const onServer = HAS_POSTGRES ? { PostgreSQL: postgresWithHost } : {};

const tested = databasesOfProject(Object.entries(adapters), Object.entries(onServer));

describe.each(sampled(tested, "storage contract"))("storage contract: %s", (_, makeStorage) => {
  test.each(storageContract)("$name", ({ run }) => run(makeStorage));
});
