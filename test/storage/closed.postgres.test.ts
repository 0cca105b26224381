/** A storage that is closed: it ends whatever its server does, and says so to whoever still asks. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import type { EngineStorage } from "paystate/storage";
import { postgresStorage } from "../../storage/postgres.ts";
import { readOnlySqlite, sqliteStorage } from "../../storage/sqlite.ts";
import { startOf } from "../contracts/storage/samples.ts";
import { postgresTest as test } from "../kit/postgres-test.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

const NOWHERE = "postgres://nobody@127.0.0.1:1/nothing";

/** What each call of a closed storage comes to: its error, or that of its answer. */
async function lateCalls(storage: EngineStorage): Promise<unknown[]> {
  const now = 1;
  const calls: Promise<unknown>[] = [
    storage.load("i"),
    storage.history("i", { after: 0, limit: 1 }),
    storage.list({ order: "ended", until: 1, after: null, limit: 1 }),
    storage.tasks({ order: "instance", instance: "i", limit: 1 }),
    storage.tasks({ order: "dead", limit: 1 }),
    storage.nextDue(["sample@1"]),
    storage.size(),
    storage.claim({
      holder: "h",
      now,
      leaseMs: 1,
      workflows: ["sample@1"],
      steps: 1,
      free: 1,
      limited: 1,
      maxCrashes: 1,
    }),
    storage.heartbeat({ holder: "h", now, leaseMs: 1, tasks: [{ id: "t", token: 1 }] }),
    storage.release({ id: "t", token: 1, dueAt: 1 }),
    storage.lease({ names: ["n"], holder: "h", now: () => now, leaseMs: 1 }),
    storage.commit([{ starts: [startOf("i")] }]).then(([answer]) => answer),
    ...(storage.transact === undefined ? [] : [storage.transact(async () => ({}))]),
  ];
  const ended = await Promise.allSettled(calls);
  return ended.map((each) => {
    if (each.status === "rejected") return each.reason as unknown;
    return (each.value as { readonly error?: unknown } | null)?.error ?? each.value;
  });
}

const closed = {
  name: "StorageUnusable",
  code: "unavailable",
  message: expect.stringContaining("was closed") as string,
};

describe.skipIf(!HAS_POSTGRES)("a storage that is closed", () => {
  test.for(["PostgreSQL", "SQLite", "SQLite, read only"])(
    "D57: %s says so to every later call, without asking its database, and is closed once",
    async (name, { database }) => {
      const folder = await mkdtemp(join(tmpdir(), "paystate-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      const path = join(folder, "test.db");
      const opened = {
        PostgreSQL: () => postgresStorage(database.url, { schema: database.schema }),
        SQLite: () => sqliteStorage(path),
        "SQLite, read only": async () => {
          await (await sqliteStorage(path)).close();
          return readOnlySqlite(path);
        },
      };
      const storage = await opened[name as keyof typeof opened]();
      await storage.load("i");
      await Promise.all([storage.close(), storage.close()]);
      await storage.close();
      for (const each of await lateCalls(storage)) expect(each).toMatchObject(closed);
    },
  );

  test("D78: a server that falls silent keeps no storage from closing", async ({ database, proxy }) => {
    const storage = await postgresStorage(proxy.url, { schema: database.schema });
    await storage.commit([{ starts: [startOf("i")] }]);
    expect(await storage.hintsArrive()).toBe(true);
    proxy.vanish(NOWHERE);
    await storage.close();
    expect(await storage.load("i").catch((error: unknown) => error)).toMatchObject(closed);
  });
});
