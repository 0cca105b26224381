/** `paystate backup` beside processes that write, and the way back from a copy. */
import { mkdir, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { backupSqlite } from "../../storage/sqlite.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { fullRows } from "../contracts/storage/rows.ts";
import { ProgressBar } from "../../src/cli/progress-bar.ts";
import { leaveNothing, newDataFolder, runCommand, withBrokenBinary } from "./command.ts";
import { wrongCall } from "./wrong-call.ts";

afterAll(leaveNothing);

async function databaseInUse() {
  const folder = await newDataFolder();
  await mkdir(folder);
  const file = join(folder, "payments.db");
  const storage = await sqliteStorage(file);
  let written = 0;
  const write = async (): Promise<void> => {
    const id = `fact ${written}`;
    // Two rows of one commit: a copy has both or neither.
    const rows = [id, `${id} again`].map(
      (each) => ({ table: "facts", insert: { id: each, value: "x" } }) as const,
    );
    await storage.commit([{ writes: rows }]);
    written += 1;
  };
  return { folder, file, storage, write, count: () => written };
}

const factsIn = (file: string): readonly string[] => {
  const database = new Database(file, { readonly: true });
  const rows = database.prepare("select id from paystateFacts order by seq").all() as readonly {
    readonly id: string;
  }[];
  database.close();
  return rows.map(({ id }) => id);
};

test("a backup of a database in use is one moment of it, checked, private, and opens as a database", async () => {
  const { folder, file, storage, write, count } = await databaseInUse();
  await storage.commit([{ writes: [{ table: "accounts", insert: fullRows.accounts }] }]);
  for (let n = 0; n < 200; n++) await write();
  const before = count();
  const target = join(folder, "copy.db");
  let isCopied = false;
  const copying = runCommand(["backup", target, "--database", file]).finally(() => {
    isCopied = true;
  });
  while (!isCopied) {
    await write();
    // A commit on SQLite takes no turn of the event loop, which the end of the child needs.
    await setImmediate();
  }
  const { code, stdout, stderr } = await copying;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /copy\.db holds .*payments\.db as it was when this began: \d+ bytes, every page checked\.\n$/,
  );
  expect(((await stat(target)).mode & 0o777).toString(8)).toBe("600");
  expect((await readdir(folder)).filter((name) => name.startsWith("copy"))).toEqual(["copy.db"]);

  const copied = factsIn(target);
  const all = factsIn(file);
  expect(count()).toBeGreaterThan(before);
  expect(copied.length).toBeGreaterThanOrEqual(2 * before);
  expect(copied.length % 2).toBe(0);
  expect(copied).toEqual(all.slice(0, copied.length));
  await storage.close();

  const restored = await sqliteStorage(target);
  expect(await restored.account("account")).toEqual(fullRows.accounts);
  await restored.close();
});

test("a copied file without its -wal lacks what was committed, and the backup of the same moment has it", async () => {
  const { folder, file, storage, write } = await databaseInUse();
  for (let n = 0; n < 5; n++) await write();
  const byHand = join(folder, "by-hand.db");
  await writeFile(byHand, await readFile(file));
  await backupSqlite(file, join(folder, "copy.db"));
  expect(factsIn(join(folder, "copy.db"))).toHaveLength(10);
  expect(() => factsIn(byHand)).toThrow("no such table");
  await storage.close();
});

test("L8: a copy that is made in turns, between which others commit, holds the moment of its beginning, and tells how far it is", async () => {
  const { folder, file, storage, count } = await databaseInUse();
  const value = "x".repeat(100_000);
  const rows = Array.from({ length: 40 }, (_, n) => ({
    table: "facts" as const,
    insert: { id: `large ${n}`, value },
  }));
  await storage.commit([{ writes: rows }]);
  const before = factsIn(file);
  const other = new Database(file);
  const shares: number[] = [];
  const { bytes } = await backupSqlite(file, join(folder, "copy.db"), {
    onProgress: ({ copiedPages, pages }) => {
      shares.push(copiedPages / pages);
      other.prepare("insert into paystateFacts (id, value) values (?, 'late')").run(`late ${shares.length}`);
    },
  });
  other.close();
  expect(count()).toBe(0);
  expect(factsIn(join(folder, "copy.db"))).toEqual(before);
  expect(factsIn(file)).toHaveLength(before.length + shares.length);
  expect(bytes).toBeGreaterThan(4_000_000);
  expect(shares.length).toBeGreaterThan(3);
  expect(shares).toEqual(shares.toSorted((one, two) => one - two));
  expect((await readdir(folder)).filter((name) => name.startsWith("copy"))).toEqual(["copy.db"]);
  await storage.close();
});

test("L8: a bar grows on a terminal, and nowhere else", () => {
  const shown = (isTTY: boolean): string => {
    let text = "";
    const bar = new ProgressBar({ isTTY, write: (more) => (text += more) });
    for (const share of [0, 0.5, 0.5, 1]) bar.show("copied", share);
    bar.clear();
    return text;
  };
  expect(shown(false)).toBe("");
  const lines = shown(true).split("\r").slice(1);
  expect(lines.map((line) => line.replaceAll("\u001B[K", ""))).toEqual([
    `${"░".repeat(30)}   0 % copied`,
    `${"█".repeat(15)}${"░".repeat(15)}  50 % copied`,
    `${"█".repeat(30)} 100 % copied`,
    "",
  ]);
});

test("nothing is overwritten, and a backup that fails leaves nothing", async () => {
  const { folder, file, storage, write } = await databaseInUse();
  await write();
  const target = join(folder, "copy.db");
  await writeFile(target, "precious");
  const taken = await runCommand(["backup", target, "--database", file]);
  expect(taken).toMatchObject({ code: 1, stdout: "" });
  expect(taken.stderr).toBe(
    `paystate: ${target} exists and is not overwritten: name another file, or remove it\n`,
  );
  expect(await readFile(target, "utf8")).toBe("precious");

  await writeFile(join(folder, "killed.db.partial"), "");
  await expect(backupSqlite(file, join(folder, "killed.db"))).rejects.toMatchObject({
    code: "target_exists",
  });

  const foreign = join(folder, "foreign.db");
  new Database(foreign).exec("create table shop (id)").close();
  const other = join(folder, "other.db");
  await expect(backupSqlite(foreign, other)).rejects.toMatchObject({ code: "foreign_database" });
  await writeFile(join(folder, "text.db"), "no database at all, but long enough to be looked at ".repeat(99));
  await expect(backupSqlite(join(folder, "text.db"), other)).rejects.toMatchObject({
    code: "not_a_database",
  });
  await expect(backupSqlite(join(folder, "none.db"), other)).rejects.toMatchObject({ code: "cannot_open" });
  await expect(backupSqlite(file, join(folder, "nowhere", "c.db"))).rejects.toMatchObject({
    code: "folder_missing",
  });
  expect((await readdir(dirname(target))).filter((name) => name.startsWith("other"))).toEqual([]);
  await storage.close();
});

test.concurrent.each([
  [["backup"], "missing required argument 'FILE'"],
  [["backup", "a", "b"], "too many arguments for 'backup'. Expected 1 argument but got 2."],
  [
    ["backup", "a", "--database", "postgres://h/d"],
    "this database is PostgreSQL: take pg_dump, or the continuous archiving of its server",
  ],
])("`paystate %s` is refused", async (args, sentence) => {
  expect(await wrongCall(args)).toBe(sentence);
});

test("a driver that does not load is said in a sentence, and nothing is left", async () => {
  const { folder, file, storage } = await databaseInUse();
  await storage.close();
  const { code, stderr } = await runCommand(
    ["backup", join(folder, "c.db"), "--database", file],
    withBrokenBinary("better_sqlite3"),
  );
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining("npm rebuild better-sqlite3") as string,
  });
  expect((await readdir(folder)).filter((name) => name.startsWith("c.db"))).toEqual([]);
});
