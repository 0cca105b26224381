/** A database file opened for reading alone: what it shows, what it refuses, and that nothing beside it changes. */
import { copyFile, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { paymentTables } from "../../src/payments/payment-storage.ts";
import { commitOne } from "../../storage/decided.ts";
import { readOnlySqlite, sqliteStorage } from "../../storage/sqlite.ts";
import type { AnyCommit } from "../../storage/storage.ts";
import { refusal } from "./refusal.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";

let folder: string;
let path: string;
eachInFolder((made) => {
  folder = made;
  path = join(made, "test.db");
});

const starting = (id: string): AnyCommit => ({
  starts: [
    {
      id,
      stamp: "s",
      parent: null,
      workflow: "a@1",
      hash: "h",
      status: "active",
      snapshot: "{}",
      createdAt: 1,
    },
  ],
});

/** Every file of the folder with its bytes; the index of the log holds locks alone. */
const contents = async (): Promise<unknown> =>
  Promise.all(
    (await readdir(folder))
      .filter((name) => !name.endsWith("-shm"))
      .toSorted()
      .map(async (name) => [name, (await readFile(join(folder, name))).toString("base64")]),
  );

test("a file at rest is read without a trace in its folder, and cannot be written", async () => {
  const writing = await sqliteStorage(path);
  await writing.commit([starting("one")]);
  await writing.close();
  const before = await contents();
  const names = await readdir(folder);
  const reading = await readOnlySqlite(path);
  expect(await reading.load("one")).toMatchObject({ id: "one", workflow: "a@1" });
  expect((await refusal(commitOne(reading, starting("two")))).code).toBe("unwritable");
  expect((await refusal(reading.install(Object.values(paymentTables)))).code).toBe("unwritable");
  await reading.close();
  expect(await contents()).toEqual(before);
  expect(await readdir(folder)).toEqual(names);
});

test("a file in use is followed while others write it", async () => {
  const writing = await sqliteStorage(path);
  await writing.commit([starting("one")]);
  const reading = await readOnlySqlite(path);
  await writing.commit([starting("two")]);
  expect(await reading.load("two")).toMatchObject({ id: "two" });
  await reading.close();
  await writing.close();
});

test("a copy with its log beside it shows what only the log has", async () => {
  const writing = await sqliteStorage(path);
  await writing.commit([starting("one")]);
  const copy = join(folder, "copy.db");
  await copyFile(path, copy);
  await copyFile(`${path}-wal`, `${copy}-wal`);
  await writing.close();
  const reading = await readOnlySqlite(copy);
  expect(await reading.load("one")).toMatchObject({ id: "one" });
  await reading.close();
  expect((await readdir(folder)).toSorted()).toEqual(["copy.db", "copy.db-wal", "test.db"]);
});

test("what is no database of ours is refused with a sentence, and left as it is", async () => {
  expect(await refusal(readOnlySqlite(path))).toMatchObject({
    code: "cannot_open",
    message: "there is no such file",
  });
  await writeFile(path, "name,amount\nada,12\n");
  expect((await refusal(readOnlySqlite(path))).message).toBe("this is no SQLite database");
  await writeFile(path, "");
  expect((await refusal(readOnlySqlite(path))).message).toBe("the file is empty");
  await rm(path);
  new Database(path).exec("create table accounts (id text)").close();
  const before = await contents();
  expect((await refusal(readOnlySqlite(path))).code).toBe("foreign_database");
  expect(await contents()).toEqual(before);
});

test("a newer schema, a file that was cut off and one that is locked are refused with a sentence", async () => {
  const writing = await sqliteStorage(path);
  await writing.close();
  const whole = await readFile(path);
  await truncate(path, whole.length - 5_000);
  expect((await refusal(readOnlySqlite(path))).message).toMatch(
    /^the file is cut off: it has \d+ of \d+ bytes/,
  );
  await writeFile(path, whole);
  const other = new Database(path);
  other.prepare("update paystateSchema set version = 3, oldest = 2").run();
  expect((await refusal(readOnlySqlite(path))).code).toBe("newer_schema");
  other.prepare("update paystateSchema set version = 1, oldest = 1").run();
  other.pragma("locking_mode = exclusive");
  other.exec("create table held (id text)");
  expect((await refusal(readOnlySqlite(path))).code).toBe("busy");
  other.close();
});
