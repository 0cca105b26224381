/** What the doctor says of this machine and of a database file, good and bad. */
import { copyFile, mkdir, open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { checkDatabase, checkPages, checkSamples } from "../../../src/cli/doctor/check-database.ts";
import { checkDisk, readDiskSpace, checkDriver, checkNode } from "../../../src/cli/doctor/check-machine.ts";
import { ownManifest } from "../../../src/cli/manifest.ts";
import { hasNodeSqlite } from "../../../storage/sqlite/node-sqlite.ts";
import { sqliteStorage } from "../../kit/storages.ts";
import {
  leaveNothing,
  newDataFolder,
  runCommand,
  withBrokenBinary,
  withoutPackage,
  type Ended,
} from "../command.ts";

afterAll(leaveNothing);

/** A database of a service, closed, with enough rows for many pages. */
async function database(): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = await newDataFolder();
  await mkdir(folder);
  const file = join(folder, "payments.db");
  const storage = await sqliteStorage(file);
  const value = "x".repeat(1_000);
  const writes = Array.from({ length: 200 }, (_, n) => ({
    ...({ table: "facts", insert: { id: `fact ${n}`, value } } as const),
  }));
  await storage.commit([{ writes }]);
  await storage.close();
  return { folder, file };
}

const eachPage = (handle: Parameters<typeof checkSamples>[0]) => checkPages(handle, () => {});

const said = async (file: string, checkIntegrity: Parameters<typeof checkDatabase>[1] = eachPage) =>
  (await checkDatabase(file, checkIntegrity)).map(({ verdict, check, found, todo }) => [
    verdict,
    check,
    todo ?? found,
  ]);

test.each([
  ["20.19.0", "ok"],
  ["20.20.2", "ok"],
  ["22.0.0", "ok"],
  ["20.18.3", "wrong"],
  ["18.20.0", "wrong"],
])("Node %s is %s where 20.19 is needed", (version, verdict) => {
  expect(checkNode(version, ">=20.19")).toMatchObject({ verdict, check: "node" });
});

test("the Node that is needed is the one of package.json", async () => {
  const manifest = JSON.parse(await readFile("package.json", "utf8")) as { engines: { node: string } };
  expect(ownManifest().engines.node).toBe(manifest.engines.node);
});

test("a driver that loads is fine", async () => {
  expect(await checkDriver(true)).toMatchObject({ verdict: "ok", check: "sqlite driver" });
});

const verdictOfDriver = ({ stdout }: Ended): unknown => {
  const { findings } = JSON.parse(stdout) as { findings: readonly { check: string; verdict: string }[] };
  return findings.find(({ check }) => check === "sqlite driver");
};

test("a driver of another Node is wrong, and it is said what mends it", async () => {
  const ended = await runCommand(["doctor", "--json"], withBrokenBinary("better_sqlite3"));
  expect(ended).toMatchObject({ code: 1, stderr: "" });
  expect(verdictOfDriver(ended)).toMatchObject({
    verdict: "wrong",
    todo: expect.stringContaining("npm rebuild better-sqlite3") as string,
  });
});

test.skipIf(hasNodeSqlite())("a missing driver is wrong only where a database file is named", async () => {
  const { file } = await database();
  const without = withoutPackage("better-sqlite3");
  const alone = await runCommand(["doctor", "--json"], without);
  expect(alone.code).toBe(0);
  expect(verdictOfDriver(alone)).toMatchObject({ verdict: "warning" });
  const beside = await runCommand(["doctor", "--database", file, "--json"], without);
  expect(beside.code).toBe(1);
  expect(verdictOfDriver(beside)).toMatchObject({ verdict: "wrong" });
});

test("a sound database file is fine in every line, and nothing is left beside it", async () => {
  const { folder, file } = await database();
  expect(await said(file)).toEqual([
    ["ok", "database", `${file} opens and is paystate's`],
    ["ok", "schema", "is one that this version works with"],
    ["ok", "integrity", "SQLite's quick check finds nothing"],
    ["ok", "write-ahead log", "is on"],
  ]);
  expect(await readdir(folder)).toEqual(["payments.db"]);
});

test("a file that is absent, foreign, no database or cut off is wrong with a sentence", async () => {
  const { folder, file } = await database();
  const foreign = join(folder, "foreign.db");
  new Database(foreign).exec("create table shop (id)").close();
  const text = join(folder, "text.db");
  await writeFile(text, "no database at all ".repeat(99));
  const cut = join(folder, "cut.db");
  const whole = await readFile(file);
  await writeFile(cut, whole.subarray(0, whole.length / 2));
  for (const [path, todo] of [
    [join(folder, "none.db"), "there is no such file"],
    [foreign, "holds none of paystate's tables"],
    [text, "this is no SQLite database"],
    [cut, "the file is cut off"],
  ] as const) {
    expect(await said(path)).toEqual([["wrong", "database", expect.stringContaining(todo)]]);
  }
});

test("a database of a newer schema opens, and its schema is wrong", async () => {
  const { file } = await database();
  const handle = new Database(file);
  handle.exec("update paystateSchema set version = 3, oldest = 2").close();
  expect(await said(file)).toEqual([
    ["ok", "database", `${file} opens and is paystate's`],
    ["wrong", "schema", expect.stringContaining("written by a newer paystate (schema 3)")],
  ]);
});

test("a page that was overwritten is found by the quick check", async () => {
  const { folder, file } = await database();
  const damaged = join(folder, "damaged.db");
  await copyFile(file, damaged);
  const reader = new Database(file, { readonly: true });
  const { pageno } = reader
    .prepare("select pageno from dbstat where name like '%facts%' and pagetype = 'leaf' limit 1")
    .get() as { readonly pageno: number };
  const pageSize = reader.pragma("page_size", { simple: true }) as number;
  reader.close();
  const handle = await open(damaged, "r+");
  await handle.write(Buffer.alloc(pageSize, 0xff), 0, pageSize, (pageno - 1) * pageSize);
  await handle.close();
  const lines = await said(damaged);
  expect(lines.some(([verdict, , todo]) => verdict === "wrong" && /restore a backup/.test(todo ?? ""))).toBe(
    true,
  );
});

test("L8: without --full rows of each table are read here and there, no more of many than of a few hundred", async () => {
  const { file } = await database();
  const read = async (): Promise<number> => {
    const [, , line] = await said(file, checkSamples);
    expect(line?.slice(0, 2)).toEqual(["ok", "integrity"]);
    return Number(/^\d+/.exec(line?.[2] ?? "")?.[0]);
  };
  const few = await read();
  const handle = new Database(file);
  handle.exec(`with recursive s(n) as (select 1 union all select n + 1 from s where n < 20000)
    insert into paystateFacts (id, value) select 'more ' || n, 'x' from s`);
  handle.close();
  expect(few).toBeGreaterThan(60);
  expect(await read()).toBeLessThanOrEqual(few);
});

test("L8: a table whose rows its index does not hold is wrong", async () => {
  const { file } = await database();
  const handle = new Database(file);
  handle.unsafeMode(true);
  handle.pragma("writable_schema = on");
  const other = "select rootpage from sqlite_master where name = 'sqlite_autoindex_paystateAccounts_1'";
  handle.exec(
    `update sqlite_master set rootpage = (${other}) where name = 'sqlite_autoindex_paystateFacts_1'`,
  );
  handle.close();
  expect(await said(file, checkSamples)).toContainEqual([
    "wrong",
    "integrity",
    expect.stringContaining("restore a backup"),
  ]);
});

test("L8: a host's own tables are not looked at without --full: they may need its functions, and integers of 64 bits", async () => {
  const { file } = await database();
  const read = () => said(file, checkSamples);
  const before = await read();
  const host = new Database(file);
  host.function("shout", { deterministic: true }, (text) => `${String(text)}!`);
  host.exec(`create table users (id integer primary key, flake integer, loud as (shout(flake)));
    create index users_flake on users (flake);
    insert into users (flake) values (1234567890123456789)`);
  host.close();
  expect(await read()).toEqual(before);
});

test("a database without a write-ahead log is a warning", async () => {
  const { file } = await database();
  const handle = new Database(file);
  handle.pragma("journal_mode = delete");
  handle.close();
  expect(await said(file)).toContainEqual([
    "warning",
    "write-ahead log",
    expect.stringContaining("start the service"),
  ]);
});

const MIB = 1024 * 1024;

test.each([
  [2_000, 10, "ok"],
  [900, 10, "warning"],
  [2_000, 3_000, "warning"],
  [99, 10, "wrong"],
])("a disk with %i MiB free beside a database of %i MiB is %s", (free, size, verdict) => {
  expect(checkDisk({ free: free * MIB, database: size * MIB })).toMatchObject({ verdict, check: "disk" });
});

test("the room is that of the disk below the file", async () => {
  const { file } = await database();
  const { free, database: size } = await readDiskSpace(file);
  expect(free).toBeGreaterThan(0);
  expect(size).toBe((await readFile(file)).length);
});

test("the command prints a line for each check, and ends with 1 when one is wrong", async () => {
  const { folder, file } = await database();
  const well = await runCommand(["doctor", "--database", file, "--full"]);
  expect(well).toMatchObject({ code: 0, stderr: "" });
  expect(well.stdout).toMatch(/^ok +node +Node /m);
  expect(well.stdout).toMatch(/^ok +integrity +SQLite's quick check finds nothing$/m);
  expect(well.stdout).toMatch(/^0 wrong, \d to look at\.$/m);
  const ill = await runCommand(["doctor", "--database", join(folder, "none.db")]);
  expect(ill).toMatchObject({ code: 1, stderr: "" });
  expect(ill.stdout).toMatch(/^wrong +database +cannot be looked at; there is no database .*none\.db/m);
  expect(ill.stdout).toMatch(/^1 wrong/m);
});

test.concurrent.each([
  [["doctor", "now"], "too many arguments for 'doctor'. Expected 0 arguments but got 1."],
  [["doctor", "--data", "x", "--database", "y"], "expected --data or --database, not both"],
  [["doctor", "--data", "x", "--service", "y"], "expected --data or --service, not both"],
  [
    ["doctor", "--database", "postgres://h/d"],
    "this database is PostgreSQL: name your service with --service, and its database is asked through it",
  ],
])("`paystate %s` is refused", async (args, sentence) => {
  const { code, stdout, stderr } = await runCommand(args);
  const told = `paystate: ${sentence}\nRun \`paystate doctor --help\` for what it takes.\n`;
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: told });
});
