/** Every storage adapter there is, each as a fresh database: what is promised of one is tested on all. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StorageUnderTest } from "../contracts/storage.ts";
import { memoryStorage } from "../../storage/memory.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";

/** An adapter by its name, and the way to an empty database of it. */
export interface Adapter {
  readonly name: string;
  readonly make: () => Promise<StorageUnderTest>;
}

/** For `describe.each(adapters)("… on $name", ({ make }) => …)`. */
export const adapters: readonly Adapter[] = [
  {
    name: "memory",
    async make() {
      const storage = memoryStorage();
      return { open: async () => storage, destroy: async () => {} };
    },
  },
  {
    name: "SQLite",
    async make() {
      const folder = await mkdtemp(join(tmpdir(), "paystate-"));
      return {
        open: () => sqliteStorage(join(folder, "test.db")),
        destroy: () => rm(folder, { recursive: true }),
      };
    },
  },
];
