/** SQLite on a disk that takes no more in the middle of a group: a COMMIT that failed has not happened. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sqliteStorage } from "../kit/storages.ts";
import type { PaymentCommit } from "../contracts/storage/samples.ts";
import { program } from "../programs/programs.ts";

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "paystate-"));
  path = join(folder, "test.db");
});
afterEach(() => rm(folder, { recursive: true }));

/** How one group ended, and which of its facts its process then saw. */
interface Group {
  readonly ids: readonly string[];
  readonly end: "ok" | "refused" | "failed";
  readonly there: readonly boolean[];
}

const fact = (id: string): PaymentCommit => ({ writes: [{ table: "facts", insert: { id, value: "x" } }] });

test("D1: where the disk takes no more in the middle of a COMMIT, nothing of its group is there, also after kill -9", async () => {
  await (await sqliteStorage(path)).close();
  // Node ignores the signal of the limit, so the file system refuses the write, as a full disk does.
  const limited = ["-c", 'ulimit -f 6000; exec "$@"', "sh", process.execPath, ...program("full-disk"), path];
  const child = spawn("sh", limited, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const groups: Group[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const group = JSON.parse(line) as Group;
    groups.push(group);
    if (group.end !== "ok") child.kill("SIGKILL");
  }
  await exited;
  const failed = groups.at(-1);
  expect(groups.length).toBeGreaterThan(3);
  expect(failed?.end).toBe("failed");
  for (const { end, there } of groups) expect(new Set(there)).toEqual(new Set([end === "ok"]));

  const storage = await sqliteStorage(path);
  for (const { ids, end } of groups) {
    for (const id of ids) expect((await storage.fact(id)) !== null, id).toBe(end === "ok");
  }
  const again = await storage.commit(failed?.ids.map(fact) ?? []);
  expect(again.map(({ ok }) => ok)).toEqual(failed?.ids.map(() => true));
  await storage.close();
});

test("D1: where the file may grow no more, each item of a group is there or not as it was answered", async () => {
  const database = new Database(path);
  const storage = await sqliteStorage(database);
  const pages = Number(database.pragma("page_count", { simple: true }));
  database.pragma(`max_page_count = ${pages + 20}`);
  const items = Array.from({ length: 8 }, (_, index): PaymentCommit => {
    return { writes: [{ table: "facts", insert: { id: `f${index}`, value: "x".repeat(20_000) } }] };
  });
  await expect(storage.commit(items)).rejects.toMatchObject({ code: "disk_full" });
  for (let index = 0; index < 8; index++) expect(await storage.fact(`f${index}`)).toBeNull();
  expect(database.inTransaction).toBe(false);
  database.pragma(`max_page_count = ${pages + 1_000}`);
  expect((await storage.commit(items)).every(({ ok }) => ok)).toBe(true);
  await storage.close();
  database.close();
});
