/** What SQLite refuses, it refuses with a sentence that says what to do. */
import { readFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { readOnlySqlite, StorageUnusable } from "../../storage/sqlite.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { assertLoadable } from "../../storage/sqlite/driver.ts";
import { explained } from "../../storage/sqlite/explain.ts";
import { ok, startOf, taskOf } from "../contracts/storage/samples.ts";
import { refusal } from "./refusal.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";

let folder: string;
let path: string;
eachInFolder((made) => {
  folder = made;
  path = join(made, "test.db");
});

test("a database of a newer paystate is left alone", async () => {
  await (await sqliteStorage(path)).close();
  const database = new Database(path);
  database.prepare("update paystateSchema set version = 3, oldest = 2").run();
  const { code, message } = await refusal(sqliteStorage(path));
  expect(code).toBe("newer_schema");
  expect(message).toBe(
    "this database was written by a newer paystate (schema 3): upgrade paystate, or restore a backup from before",
  );
  database.close();
});

test.each([
  ["create table PaystateTasks (id text)", /has the table "?paystateTasks"?, which/i],
  ["create view paystateHistory as select 1 as id", /has the view "?paystateHistory"?, which/],
  [
    "create table mine (id text); create index paystateInstances on mine (id)",
    /has the index paystateInstances, which/,
  ],
])("a file with a name that paystate needs is left alone, to the last byte: %s", async (sql, sentence) => {
  const database = new Database(path);
  database.exec(sql);
  const [bytes, names] = [readFileSync(path), database.prepare("select name from sqlite_master")];
  const before = names.pluck().all();
  const { code, message } = await refusal(sqliteStorage(path));
  expect([code, message]).toEqual(["foreign_database", expect.stringMatching(sentence)]);
  expect(message).toContain("rename it, or give paystate a file of its own");
  expect(readFileSync(path).equals(bytes)).toBe(true);
  expect(names.pluck().all()).toEqual(before);
  database.close();
});

test("D37: a database that cannot be written says so when it is opened", async () => {
  new Database(path).exec("vacuum").close();
  const empty = new Database(path, { readonly: true });
  expect((await refusal(sqliteStorage(empty))).code).toBe("unwritable");
  empty.close();
  await (await sqliteStorage(path)).close();
  const current = new Database(path, { readonly: true });
  expect(await refusal(sqliteStorage(current))).toEqual({
    code: "unwritable",
    message: "the database cannot be written: paystate's user needs to write the file and its folder",
  });
  current.close();
});

test("a missing folder, a folder and a file of another kind are no databases", async () => {
  const missing = join(folder, "missing", "test.db");
  expect(await refusal(sqliteStorage(missing))).toEqual({
    code: "folder_missing",
    message: `the database's folder does not exist: create it first (${missing})`,
  });
  await mkdir(path);
  expect((await refusal(sqliteStorage(path))).code).toBe("cannot_open");
  const text = join(folder, "text.db");
  await writeFile(text, "this is a text and no database\n".repeat(50));
  await chmod(text, 0o644);
  expect((await refusal(sqliteStorage(text))).code).toBe("not_a_database");
});

test("better-sqlite3 13 is not even loaded on a Node that it would crash", () => {
  const refused = { node: "20.19.0", napi: "9" };
  expect(() => assertLoadable("13.2.0", refused)).toThrow(
    /needs Node 22.14 or newer and this is Node 20.19.0.*better-sqlite3@12/,
  );
  expect(() => assertLoadable("13.2.0", { node: "8.0.0" })).toThrow(StorageUnusable);
  for (const [driver, napi] of [
    ["13.2.0", "10"],
    ["14.0.0", "11"],
    ["12.11.1", "9"],
  ] as const) {
    expect(() => assertLoadable(driver, { node: "20.19.0", napi })).not.toThrow();
  }
});

test("D34: a Node that a driver would end is told what to install before anything is opened", () => {
  for (const node of ["24.19.0", "24.20.1", "25.0.0", "26.3.0"]) {
    expect(() => assertLoadable("12.11.1", { node, napi: "10" })).toThrow(
      `better-sqlite3 12.11.1 ends the process on Node 24.19 and newer and this is Node ${node}: \`npm install better-sqlite3@13\``,
    );
    expect(() => assertLoadable("13.2.0", { node, napi: "10" })).not.toThrow();
  }
  for (const node of ["20.19.0", "22.14.0", "24.18.2"]) {
    expect(() => assertLoadable("12.11.1", { node, napi: "10" })).not.toThrow();
  }
  expect(() => assertLoadable("13.2.0", { node: "20.19.0", napi: "9" })).toThrow("better-sqlite3@12");
});

test("Bun and Deno are told which better-sqlite3 they load", () => {
  for (const [runtime, name] of [
    [{ bun: "1.4.5" }, "Bun 1.4.5"],
    [{ deno: "2.9.6" }, "Deno 2.9.6"],
  ] as const) {
    const versions = { node: "26.3.0", napi: "10", ...runtime };
    expect(() => assertLoadable("12.11.1", versions)).toThrow(
      `better-sqlite3 12.11.1 runs on Node alone and this is ${name}: \`npm install better-sqlite3@13\``,
    );
    expect(() => assertLoadable("13.2.0", versions)).not.toThrow();
  }
});

test.each([
  ["ERR_DLOPEN_FAILED", "driver_unusable", "npm rebuild"],
  ["EACCES", "unwritable", "cannot be written"],
  ["EROFS", "unwritable", "cannot be written"],
  ["SQLITE_READONLY_DIRECTORY", "unwritable", "cannot be written"],
  ["SQLITE_FULL", "disk_full", "make room"],
  ["SQLITE_CORRUPT_VTAB", "damaged", "restore a backup"],
  ["ENOTDIR", "folder_missing", "create it first"],
])("%s becomes %s with a sentence", (code, kind, sentence) => {
  const cause = Object.assign(new Error("…"), { code });
  const error = explained(cause, "/some/path");
  expect(error).toBeInstanceOf(StorageUnusable);
  expect(error).toMatchObject({ code: kind, cause });
  expect((error as Error).message).toMatch(new RegExp(`${sentence}.*\\(/some/path\\)`));
});

test.each([
  "The module was compiled against a different Node.js version using NODE_MODULE_VERSION 108.",
  "Could not locate the bindings file. Tried: …",
])("a driver without a fitting binary says so: %s", (message) => {
  expect(explained(new Error(message))).toMatchObject({ code: "driver_unusable" });
});

test("what is no fault of the database passes unchanged", () => {
  const error = new TypeError("dueAt must be integer, not 0.5");
  expect(explained(error)).toBe(error);
});

test.each([
  [
    "lacks a column",
    'alter table "paystateTasks" rename column admission to old',
    "the table paystateTasks lacks admission",
  ],
  ["lacks a table", `drop table "paystateLeases"`, "the table paystateLeases lacks name, holder, until, ms"],
  [
    "has a key no more",
    `create table other as select * from "paystateHistory"; drop table "paystateHistory";
      alter table other rename to "paystateHistory"`,
    "nothing keeps instance and version unique in the table paystateHistory",
  ],
])("D39: a database of this version that %s is refused with what is missing", async (_, change, missing) => {
  await (await sqliteStorage(path)).close();
  const database = new Database(path);
  for (const of of ["steps", "limited", "rooms"]) database.exec(`drop index "paystateTasks_${of}"`);
  database.exec(change);
  database.close();
  for (const open of [sqliteStorage, readOnlySqlite]) {
    expect(await refusal(open(path))).toEqual({
      code: "old_schema",
      message: expect.stringContaining(missing) as string,
    });
  }
});

test("D39: what else is in the database of this version is nobody's trouble", async () => {
  await (await sqliteStorage(path)).close();
  const database = new Database(path);
  database.exec(
    `alter table "paystateTasks" add column note text; create table mine (id text);
    create index mine_tasks on "paystateTasks" (name)`,
  );
  database.close();
  const storage = await sqliteStorage(path);
  expect(await storage.commit([{ starts: [startOf("i")], arms: [{ task: taskOf("t") }] }])).toEqual([ok]);
  await storage.close();
});
