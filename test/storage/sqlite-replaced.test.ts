/** An SQLite file that is deleted or replaced while a process has it open: nothing is acknowledged that is not there. */
import { copyFile, mkdtemp, rename, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type PaymentStorage, paymentStorage } from "../../src/payments/payment-storage.ts";
import { backupSqlite, sqliteStorage } from "../../storage/sqlite.ts";
import { ok, taskOf, type PaymentCommit } from "../contracts/storage/samples.ts";

let folder: string;
let path: string;
let elapsed = 0;
let storage: PaymentStorage;
const fact = (id: string): PaymentCommit => ({ writes: [{ table: "facts", insert: { id, value: "x" } }] });

/** Once it is looked again. */
function later(looking: PaymentStorage = storage): PaymentStorage {
  elapsed += 100;
  return looking;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "paystate-"));
  path = join(folder, "test.db");
  elapsed = 0;
  storage = paymentStorage(await sqliteStorage(path, { elapsed: () => elapsed }));
  expect(await later().commit([fact("before")])).toEqual([ok]);
});
afterEach(async () => {
  await storage.close();
  await rm(folder, { recursive: true });
});

const accidents: Readonly<Record<string, () => Promise<unknown>>> = {
  "is deleted": () => rm(path),
  "is renamed": () => rename(path, join(folder, "elsewhere.db")),
  "is deleted with all beside it": () => Promise.all(["", "-wal", "-shm"].map((end) => rm(`${path}${end}`))),
  "is replaced by an older copy": async () => {
    await backupSqlite(path, join(folder, "copy.db"));
    expect(await later().commit([fact("later")])).toEqual([ok]);
    await rename(join(folder, "copy.db"), path);
  },
  "is replaced by what is no database": () =>
    copyFile("package.json", join(folder, "x")).then(() => rename(join(folder, "x"), path)),
  "loses its log": () => rm(`${path}-wal`),
  "has another log": () =>
    copyFile(`${path}-wal`, join(folder, "x")).then(() => rename(join(folder, "x"), `${path}-wal`)),
  "is overwritten by an older copy": async () => {
    await backupSqlite(path, join(folder, "copy.db"));
    await grow();
    await copyFile(join(folder, "copy.db"), path);
  },
  "is cut short": async () => {
    await grow();
    await truncate(path, (await stat(path)).size - 16_384);
  },
  "is emptied": () => grow().then(() => truncate(path)),
  "has its log emptied": () => truncate(`${path}-wal`),
};

/** Rows that fill pages, written into the file itself. */
async function grow(): Promise<void> {
  const long = (id: string): PaymentCommit => ({
    writes: [{ table: "facts", insert: { id, value: "x".repeat(100_000) } }],
  });
  expect(await later().commit([long("long"), long("longer")])).toEqual([ok, ok]);
  checkpoint("TRUNCATE");
  expect(await later().commit([fact("seen")])).toEqual([ok]);
}

/** By another program. */
function checkpoint(kind: "TRUNCATE" | "VACUUM"): void {
  const other = new Database(path);
  if (kind === "VACUUM") other.exec("vacuum");
  other.pragma("wal_checkpoint(TRUNCATE)");
  other.close();
}

test.each(Object.entries(accidents))(
  "D36: where the file %s, no commit is acknowledged any more, and no read answered",
  async (_, happens) => {
    await happens();
    const refused = { conflict: "failed", error: { code: "replaced" } };
    expect(await later().commit([fact("a"), fact("b")])).toMatchObject([refused, refused]);
    await expect(later().fact("before")).rejects.toMatchObject({ code: "replaced" });
    expect(await later().commit([fact("c")]), "also when it is asked again").toMatchObject([refused]);
  },
);

test.each([
  [
    "is led elsewhere",
    async (link: string) => {
      await backupSqlite(path, join(folder, "copy.db"));
      await rm(link);
      await symlink(join(folder, "copy.db"), link);
    },
  ],
  ["leads to a file that loses its log", () => rm(`${path}-wal`)],
] as const)("D36: a symbolic link that %s is noticed", async (_, happens) => {
  const link = join(folder, "link.db");
  await symlink(path, link);
  const through = paymentStorage(await sqliteStorage(link, { elapsed: () => elapsed }));
  onTestFinished(() => through.close());
  expect(await later(through).commit([fact("through")])).toEqual([ok]);
  await happens(link);
  expect(await later(through).commit([fact("a")])).toMatchObject([{ error: { code: "replaced" } }]);
});

test.each([
  [
    "has a backup with other names written into it",
    async (): Promise<void> => {
      const other = new Database(join(folder, "other.db"));
      await (await sqliteStorage(other)).close();
      other.exec(`alter table "paystateTasks" rename to tasks`);
      await other.backup(path);
      other.close();
    },
  ],
  ["loses a table", (): void => void new Database(path).exec(`drop table "paystateTasks"`).close()],
] as const)("D36: where the file %s, no task is taken or acknowledged", async (_, happens) => {
  await happens();
  const refused = { conflict: "failed", error: { code: "replaced" } };
  const arming = { arms: [{ task: taskOf("t") }] };
  expect(await later().commit([arming, arming])).toMatchObject([refused, refused]);
  await expect(later().tasks({ order: "dead", limit: 1 })).rejects.toMatchObject({ code: "replaced" });
});

test("D36: where the file is emptied its log is left, which holds what was committed last", async () => {
  const { size } = await stat(`${path}-wal`);
  await writeFile(join(folder, "empty"), "");
  await rename(join(folder, "empty"), path);
  expect(await later().commit([fact("a")])).toMatchObject([{ error: { code: "replaced" } }]);
  expect((await stat(`${path}-wal`)).size).toBe(size);
});

test("D36: it is looked ten times a second", async () => {
  await rm(path);
  const before = elapsed;
  elapsed = before + 99;
  expect(await storage.fact("before")).toBe("x");
  elapsed = before + 100;
  await expect(storage.fact("before")).rejects.toMatchObject({ code: "replaced" });
  await expect(storage.tasks({ order: "instance", instance: "i", limit: 1 })).rejects.toMatchObject({
    code: "replaced",
  });
});

test("D36: a file that another program has made smaller is used on, with its log", async () => {
  await grow();
  const { size } = await stat(path);
  expect(
    await later().commit(["long", "longer"].map((id) => ({ writes: [{ table: "facts", remove: id }] }))),
  ).toEqual([ok, ok]);
  checkpoint("VACUUM");
  expect((await stat(path)).size).toBeLessThan(size);
  expect((await stat(`${path}-wal`)).size).toBe(0);
  expect(await later().commit([fact("after")])).toEqual([ok]);
  expect(await storage.fact("after")).toBe("x");
});
