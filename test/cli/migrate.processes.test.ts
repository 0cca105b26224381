/** `paystate migrate`: what it prints and refuses, and what it leaves behind when it is killed. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { sqliteStorage } from "../kit/storages.ts";
import { range } from "../contracts/storage/samples.ts";
import { moveTest } from "../kit/move-test.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { refusal } from "../storage/refusal.ts";
import { leaveNothing, runCommand, startCommand } from "./command.ts";

afterAll(leaveNothing);

test.each([
  [[], "required option '--from <FILE>' not specified"],
  [["--from", "a.db"], "required option '--to <URL>' not specified"],
  [
    ["--from", "postgres://a/b", "--to", "postgres://a/b"],
    "--from expects the file of an SQLite database, not a URL",
  ],
  [
    ["--from", "a.db", "--to", "b.db"],
    "--to expects a URL of PostgreSQL such as postgres://user@host:5432/database",
  ],
  [
    ["--from", "a.db", "--to", "postgres://a/b", "c"],
    "too many arguments for 'migrate'. Expected 0 arguments but got 1.",
  ],
])("migrate %j is refused", async (args, sentence) => {
  const { code, stderr, stdout } = await runCommand(["migrate", ...args]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(sentence);
});

/** What is moved are 400 facts. */
const factsTest = moveTest
  .extend("facts", { auto: true }, async ({ move: { from } }) => {
    const storage = await sqliteStorage(from);
    await storage.commit(
      range(400).map((index) => ({ writes: [{ table: "facts", insert: { id: `f${index}`, value: "v" } }] })),
    );
    await storage.close();
  })
  .extend("commandTo", ({ move: { from, schema } }) => {
    return (url: string) => ["migrate", "--from", from, "--to", url, "--schema", schema];
  })
  // Runs until the proxy keeps an answer back, and kills the process there.
  .extend("killedAt", ({ proxy, commandTo }) => async (text: string) => {
    proxy.plan({ text, moment: "silent" });
    const before = proxy.happened();
    const running = startCommand(commandTo(proxy.url));
    while (proxy.happened() === before) await sleep(5);
    await running.end("SIGKILL");
  });

describe.skipIf(!HAS_POSTGRES)("a move by the command", () => {
  factsTest(
    "it counts, sums and says where the service goes on, without a password",
    async ({ move, commandTo }) => {
      const url = move.to.replace("paystate@", "paystate:hunter2@");
      const moved = await runCommand(commandTo(url));
      expect([moved.code, moved.stderr]).toEqual([0, ""]);
      expect(moved.stdout).toMatch(/^paystateFacts +400$/m);
      expect(moved.stdout).toContain(`holds all of ${move.from}, every row read back and equal`);
      const again = await runCommand([...commandTo(url), "--json"]);
      expect(JSON.parse(again.stdout)).toMatchObject({ wasThere: true, leftBehind: [], tables: [] });
      const refused = await runCommand(["instance", "list", "--database", move.from]);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining("this database was moved to"),
      ]);
      expect(moved.stdout + again.stdout + refused.stderr).not.toContain("hunter2");
    },
  );

  factsTest(
    "E5: killed while it copies, it leaves the file as it was and nothing in the target",
    async ({ move, target, proxy, commandTo, killedAt }) => {
      await killedAt("overriding system value");
      expect(await target.tables()).toEqual([]);
      await (await sqliteStorage(move.from)).close();
      const { code } = await runCommand(commandTo(proxy.url));
      expect(code).toBe(0);
    },
  );

  factsTest(
    "E5: killed before it hears of its COMMIT, it leaves a whole target and a file that none can use, and the next run finds that out",
    async ({ move, target, proxy, commandTo, killedAt }) => {
      await killedAt("commit\0");
      expect((await target.tables()).length).toBeGreaterThan(10);
      expect((await refusal(sqliteStorage(move.from))).message).toContain("was cut off in its last moment");
      const { stdout } = await runCommand(commandTo(proxy.url));
      expect(stdout).toContain("holds everything since an earlier run");
      expect((await refusal(sqliteStorage(move.from))).message).toContain("was moved to");
    },
  );
});
