/** Runs the published contract of storages against SQLite, in the folder that it is given. */
import { join } from "node:path";
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

for (const [index, { name, run }] of storageContract.entries()) {
  try {
    await run(async () => sqliteWorld(join(folder, `${index}.db`)));
  } catch (error) {
    console.log(`broken: ${name}`, error);
    process.exitCode = 1;
  }
}
console.log(`${storageContract.length} promises`);
