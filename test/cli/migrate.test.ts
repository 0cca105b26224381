/** `paystate migrate`: what it prints and refuses, and what it leaves behind when it is killed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { sqliteStorage } from "../kit/storages.ts";
import { range } from "../contracts/storage/samples.ts";
import { type PostgresProxy, postgresProxy } from "../kit/postgres-proxy.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { refusal } from "../storage/refusal.ts";
import { leaveNothing, runCommand, startCommand } from "./command.ts";

afterAll(leaveNothing);

test.each([
  [[], "migrate expects --from FILE, an SQLite database, and --to URL, of PostgreSQL"],
  [["--from", "a.db"], "migrate expects --from FILE"],
  [
    ["--from", "postgres://a/b", "--to", "postgres://a/b"],
    "--from expects the file of an SQLite database, not a URL",
  ],
  [
    ["--from", "a.db", "--to", "b.db"],
    "--to expects a URL of PostgreSQL such as postgres://user@host:5432/database",
  ],
  [["--from", "a.db", "--to", "postgres://a/b", "c"], 'migrate takes no argument "c"'],
])("migrate %j is refused", async (args, sentence) => {
  const { code, stderr, stdout } = await runCommand(["migrate", ...args]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(sentence);
});

describe.skipIf(!HAS_POSTGRES)("a move by the command", () => {
  let folder: string;
  let from: string;
  let to: string;
  let schema: string;
  let proxy: PostgresProxy;
  const admin = async (text: string): Promise<readonly object[]> => {
    const client = new pg.Client({ connectionString: to });
    await client.connect();
    const { rows } = await client.query<object>(text);
    await client.end();
    return rows;
  };
  const tables = () => admin(`select 1 from pg_tables where schemaname = '${schema}'`);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "paystate-"));
    from = join(folder, "payments.db");
    to = await postgresUrl();
    proxy = await postgresProxy(to);
    schema = `command_${process.pid}`;
    const storage = await sqliteStorage(from);
    await storage.commit(
      range(400).map((index) => ({ writes: [{ table: "facts", insert: { id: `f${index}`, value: "v" } }] })),
    );
    await storage.close();
  });
  afterEach(async () => {
    await proxy.stop();
    await admin(`drop schema if exists "${schema}" cascade`);
    await rm(folder, { recursive: true });
  });

  /** Runs until the proxy keeps an answer back, and kills the process there. */
  const killedAt = async (text: string): Promise<void> => {
    proxy.plan({ text, moment: "silent" });
    const before = proxy.happened();
    const running = startCommand(["migrate", "--from", from, "--to", proxy.url, "--schema", schema]);
    while (proxy.happened() === before) await sleep(5);
    await running.end("SIGKILL");
  };

  test("it counts, sums and says where the service goes on, without a password", async () => {
    const url = to.replace("paystate@", "paystate:hunter2@");
    const moved = await runCommand(["migrate", "--from", from, "--to", url, "--schema", schema]);
    expect([moved.code, moved.stderr]).toEqual([0, ""]);
    expect(moved.stdout).toMatch(/^facts +400$/m);
    expect(moved.stdout).toContain(`holds all of ${from}, every row read back and equal`);
    const again = await runCommand(["migrate", "--from", from, "--to", url, "--schema", schema, "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ wasThere: true, leftBehind: [], tables: [] });
    const refused = await runCommand(["ps", "--database", from]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("this database was moved to"),
    ]);
    expect(moved.stdout + again.stdout + refused.stderr).not.toContain("hunter2");
  }, 60_000);

  test("E5: killed while it copies, it leaves the file as it was and nothing in the target", async () => {
    await killedAt("overriding system value");
    expect(await tables()).toEqual([]);
    await (await sqliteStorage(from)).close();
    const { code } = await runCommand(["migrate", "--from", from, "--to", proxy.url, "--schema", schema]);
    expect(code).toBe(0);
  }, 60_000);

  test("E5: killed before it hears of its COMMIT, it leaves a whole target and a file that none can use, and the next run finds that out", async () => {
    await killedAt("commit\0");
    expect((await tables()).length).toBeGreaterThan(10);
    expect((await refusal(sqliteStorage(from))).message).toContain("was cut off in its last moment");
    const { stdout } = await runCommand(["migrate", "--from", from, "--to", proxy.url, "--schema", schema]);
    expect(stdout).toContain("holds everything since an earlier run");
    expect((await refusal(sqliteStorage(from))).message).toContain("was moved to");
  }, 60_000);
});
