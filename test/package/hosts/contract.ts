/** Runs the published contract of storages against the adapters that need no server, in the folder that it is given. */
import { join } from "node:path";
import { memoryStorage } from "paystate/storage/memory";
import { sqliteStorage } from "paystate/storage/sqlite";
import { storageContract, type StorageUnderTest } from "paystate/testing";

const [folder = "."] = process.argv.slice(2);

function sqliteWorld(file: string): StorageUnderTest {
  const opened: Awaited<ReturnType<typeof sqliteStorage>>[] = [];
  return {
    open: async () => {
      const storage = await sqliteStorage(file);
      opened.push(storage);
      return storage;
    },
    destroy: async () => {
      for (const storage of opened) await storage.close();
    },
  };
}

function memoryWorld(): StorageUnderTest {
  const storage = memoryStorage();
  return { open: async () => storage, destroy: async () => {} };
}

for (const [index, { name, run }] of storageContract.entries()) {
  for (const world of [memoryWorld(), sqliteWorld(join(folder, `${index}.db`))]) {
    try {
      await run(async () => world);
    } catch (error) {
      console.log(`broken: ${name}`, error);
      process.exitCode = 1;
    }
  }
}
console.log(`${storageContract.length} promises`);
