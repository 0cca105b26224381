/** The engine's way to its storage: reads that belong together stay together, however busy the process is. */
import { expect, test } from "vitest";
import { EngineStore } from "../../src/engine/kernel/engine-store.ts";
import { isTurnOver, nextTurn } from "../../src/core/runtime.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { ownTable } from "../../storage/table.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { emptySqlite } from "../kit/storages.ts";

const marks = ownTable("paystateMarks", { columns: { id: "text" } });

/** A storage that notes what it is asked for. */
async function noting(): Promise<{ readonly storage: EngineStorage; readonly asked: string[] }> {
  const storage = await sqliteStorage(await emptySqlite());
  const asked: string[] = [];
  return {
    asked,
    storage: {
      ...storage,
      install: async (tables) => {
        asked.push("install");
        await storage.install(tables);
      },
      load: async (id) => {
        asked.push(id);
        return storage.load(id);
      },
    },
  };
}

test("D81: reads asked for without awaiting are all asked in this turn, or all in a later one", async () => {
  const { storage, asked } = await noting();
  const store = new EngineStore(storage, []);
  const spin = (): void => {
    while (!isTurnOver());
  };
  await nextTurn();
  const first = [store.load("a")];
  spin();
  first.push(store.load("b"));
  expect(asked).toEqual(["a", "b"]);
  await Promise.all(first);
  spin();
  const second = [store.load("c"), store.load("d")];
  expect(asked).toEqual(["a", "b"]);
  await Promise.all(second);
  expect(asked).toEqual(["a", "b", "c", "d"]);
  await storage.close();
});

test("tables are installed once, before what needs them, and again where that failed", async () => {
  const { storage, asked } = await noting();
  let failures = 1;
  const install: EngineStorage["install"] = async (tables) => {
    await storage.install(tables);
    if (failures-- > 0) throw new Error("away");
  };
  const store = new EngineStore({ ...storage, install }, [marks]);
  expect(await store.load("a")).toBeNull();
  expect(asked).toEqual(["a"]);
  await expect(store.find({ table: marks, key: "m" })).rejects.toThrow("away");
  await Promise.all([
    store.find({ table: marks, key: "m" }),
    store.commit([{}]),
    store.find({ table: marks }),
  ]);
  await store.find({ table: marks, key: "m" });
  expect(asked).toEqual(["a", "install", "install"]);
  await storage.close();
});
