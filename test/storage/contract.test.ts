/** All adapters pass the published contract whole. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import pg from "pg";
import { describe, test } from "vitest";
import { memoryStorage } from "../../storage/memory.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { sampled } from "../kit/thorough.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
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

const adapters: Readonly<Record<string, () => Promise<StorageUnderTest>>> = {
  async memory() {
    const storage = memoryStorage();
    return { open: async () => storage, destroy: async () => {} };
  },
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    return {
      open: () => sqliteStorage(join(folder, "test.db")),
      async host() {
        const host = new Sqlite(join(folder, "test.db"));
        return { transaction: host, ask: async (sql) => host.exec(sql), close: async () => host.close() };
      },
      destroy: () => rm(folder, { recursive: true }),
    };
  },
  ...(HAS_POSTGRES ? { PostgreSQL: postgresWithHost } : {}),
};

describe.each(sampled(Object.entries(adapters), "storage contract"))(
  "storage contract: %s",
  (_, makeStorage) => {
    test.each(storageContract)("$name", ({ run }) => run(makeStorage));
  },
);
