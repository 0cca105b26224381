/** Runs the published contract of storages against SQLite, in the folder that it is given. */
import { join } from "node:path";
import { sqliteStorage } from "paystate/storage/sqlite";
import { storageContract, type StorageUnderTest } from "paystate/testing";
import { handleClass } from "./sqlite-handle.ts";

const [folder = "."] = process.argv.slice(2);
const Handle = await handleClass();

function sqliteWorld(file: string): StorageUnderTest {
  const opened: Awaited<ReturnType<typeof sqliteStorage>>[] = [];
  return {
    open: async () => {
      const storage = await sqliteStorage(file);
      opened.push(storage);
      return storage;
    },
    host: async () => {
      const host = new Handle(file);
      return {
        transaction: host,
        ask: async (statement) => host.exec(statement),
        close: async () => host.close(),
      };
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
