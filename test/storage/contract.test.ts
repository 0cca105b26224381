/** All adapters pass the published contract whole. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "vitest";
import { memoryStorage } from "../../storage/memory.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { sampled } from "../kit/thorough.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { storageContract, type StorageUnderTest } from "../contracts/storage.ts";

const adapters: Readonly<Record<string, () => Promise<StorageUnderTest>>> = {
  async memory() {
    const storage = memoryStorage();
    return { open: async () => storage, destroy: async () => {} };
  },
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    return {
      open: () => sqliteStorage(join(folder, "test.db")),
      destroy: () => rm(folder, { recursive: true }),
    };
  },
  ...(HAS_POSTGRES ? { PostgreSQL: postgresDatabase } : {}),
};

describe.each(sampled(Object.entries(adapters), "storage contract"))(
  "storage contract: %s",
  (_, makeStorage) => {
    test.each(storageContract)("$name", ({ run }) => run(makeStorage));
  },
);
