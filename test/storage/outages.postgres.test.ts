/** PostgreSQL with machines that go: a primary that is lost, a disk that is full, a pooler that shares its connections. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test as vitestTest } from "vitest";
import { type PaymentStorage, paymentStorage } from "../../src/payments/payment-storage.ts";
import { type PostgresOptions, postgresStorage } from "../../storage/postgres.ts";
import {
  claim,
  ok,
  type PaymentCommit,
  range,
  startOf,
  stepOf,
  taskOf,
} from "../contracts/storage/samples.ts";
import { ask, untilTrue } from "../kit/ask-server.ts";
import { HAS_PGBOUNCER, startPgbouncer } from "../kit/pgbouncer.ts";
import { postgresProxy } from "../kit/postgres-proxy.ts";
import {
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  startStandby,
  unprivileged,
} from "../kit/postgres-server.ts";

const HAS_POSTGRES = postgresPrograms() !== null;
const fact = (id: string, value = id): PaymentCommit => ({
  writes: [{ table: "facts", insert: { id, value } }],
});

/** Writers that go on until they are stopped. Answers what was acknowledged. */
function underLoad(storage: PaymentStorage, name = "w"): { stop(): Promise<readonly string[]> } {
  const acknowledged: string[] = [];
  let isRunning = true;
  const write = async (writer: number): Promise<void> => {
    for (let index = 0; isRunning; index += 1) {
      const id = `${name}${writer}-${index}`;
      // Done twice it would be refused the second time.
      expect(await storage.commit([fact(id)])).toEqual([ok]);
      acknowledged.push(id);
    }
  };
  const writers = range(4).map(write);
  return {
    async stop() {
      isRunning = false;
      await Promise.all(writers);
      return acknowledged;
    },
  };
}

/** Once the standby of this primary has all that it has. */
const caughtUp = ({ url }: PostgresServer): Promise<void> =>
  untilTrue(url, "select bool_and(replay_lsn = pg_current_wal_lsn()) from pg_stat_replication");

/** What a test has to itself ends with it. Tests that mostly wait for lost machines wait beside one another. */
const test = vitestTest
  .extend(
    "own",
    ({ onTestFinished }) =>
      async <Made extends { stop(): Promise<void> } | { close(): Promise<void> }>(making: Promise<Made>) => {
        const made = await making;
        onTestFinished(() => ("stop" in made ? made.stop() : made.close()));
        return made;
      },
  )
  .extend("server", ({ own }) => own(startPostgres()))
  /** A primary with a schema of paystate, its standby, and a way that leads to the primary. */
  .extend("machines", async ({ own, server: primary }) => {
    await (await postgresStorage(primary.url)).close();
    const standby = await own(startStandby(primary));
    const proxy = await own(postgresProxy(primary.url));
    return { primary, standby, proxy };
  })
  .extend(
    "open",
    ({ own }) =>
      async (url: string, options: PostgresOptions = { listen: false }) =>
        paymentStorage(await own(postgresStorage(url, { clock: "caller", ...options }))),
  );

describe.skipIf(!HAS_POSTGRES)("PostgreSQL whose machines go", () => {
  test.concurrent(
    "D31: a standby that stays one: what is committed waits for 10 s, has not happened, and is refused with what to do",
    async ({ machines: { standby }, own }) => {
      const storage = await own(postgresStorage(standby.url, { listen: false, create: false }));
      const refused = {
        conflict: "failed",
        error: {
          code: "replica",
          message: "this server takes no writes, as a standby does: give paystate the URL of the primary",
        },
      };
      const opening = Promise.allSettled([postgresStorage(standby.url)]);
      const ids = range(300).map((index) => `i${index}`);
      const began = Date.now();
      const answers = await storage.commit(ids.map((id) => ({ starts: [startOf(id)] })));
      expect(Date.now() - began).toBeGreaterThan(9_000);
      expect(Date.now() - began).toBeLessThan(15_000);
      expect(answers).toMatchObject(ids.map(() => refused));
      expect(await storage.load("i0")).toBeNull();
      expect(await opening, "opened to be written").toMatchObject([{ reason: refused.error }]);
    },
    120_000,
  );

  test.concurrent(
    "D28: a primary that was left behind is not written to, and one that was promoted without what it had is",
    async ({ machines: { primary, standby, proxy }, open }) => {
      const storage = await open(proxy.url);
      expect(await storage.commit([fact("kept"), { starts: [startOf("i")] }])).toEqual([ok, ok]);
      await caughtUp(primary);
      await ask(standby.url, "alter system set primary_conninfo to ''");
      await ask(standby.url, "select pg_reload_conf()");
      await untilTrue(primary.url, "select count(*) = 0 from pg_stat_replication");
      expect(await storage.commit([fact("lost"), { step: stepOf("i", 1) }])).toEqual([ok, ok]);
      await primary.kill();
      await ask(standby.url, "select pg_promote(true, 60)");
      proxy.lead(standby.url);
      const guarded = { table: "gates", id: "g", expectVersion: 0 } as const;
      const answers = await storage.commit([fact("new"), { step: stepOf("i", 2) }, { writes: [guarded] }]);
      expect(answers).toMatchObject([
        ok,
        { conflict: "step" },
        { conflict: "failed", error: { code: "unavailable" } },
      ]);
      expect(await storage.fact("lost")).toBeNull();
      expect(await storage.load("i")).toMatchObject({ version: 1 });
      await primary.restart();
      proxy.lead(primary.url);
      // A group that goes out on a connection that ends may have happened: the pool hears of the ends first.
      await sleep(100);
      const [astray, read] = await Promise.allSettled([
        storage.commit([fact("astray")]),
        storage.fact("lost"),
      ]);
      expect(astray).toMatchObject({ value: [{ conflict: "failed", error: { code: "unavailable" } }] });
      expect(read, "what is lost is not told either").toMatchObject({ reason: { code: "unavailable" } });
      await expect(claim(storage, 0)).rejects.toMatchObject({ code: "unavailable" });
      expect(await ask(primary.url, `select id from paystate."paystateFacts" where id = 'astray'`)).toEqual(
        [],
      );
      proxy.lead(standby.url);
      expect(await storage.commit([fact("astray")])).toEqual([ok]);
    },
    120_000,
  );

  test.concurrent(
    "D28: a primary that was left behind is not asked what became of a group: it does not know, and the group is made once",
    async ({ machines: { primary, standby, proxy }, open }) => {
      const storage = await open(proxy.url);
      expect(await storage.commit([fact("kept")])).toEqual([ok]);
      await caughtUp(primary);
      await primary.kill();
      await ask(standby.url, "select pg_promote(true, 60)");
      proxy.lead(standby.url);
      expect(await storage.commit([fact("promoted")])).toEqual([ok]);
      await primary.restart();
      proxy.plan({ text: "paystate_commit", moment: "after" });
      const answer = storage.commit([{ starts: [startOf("once")] }, fact("once")]);
      while (proxy.happened() === 0) await new Promise(setImmediate);
      proxy.lead(primary.url);
      await sleep(1_500);
      proxy.lead(standby.url);
      expect(await answer).toEqual([ok, ok]);
      expect(await storage.fact("once")).toBe("once");
    },
    120_000,
  );

  test.concurrent(
    "D33: a host that vanishes without a word is left within 15 s",
    async ({ machines: { primary, standby, proxy }, open }) => {
      const storage = await open(proxy.url);
      await Promise.all(range(8).map((index) => storage.commit([fact(`before${index}`)])));
      await caughtUp(primary);
      await ask(standby.url, "select pg_promote(true, 60)");
      proxy.vanish(standby.url);
      const began = Date.now();
      const answers = await Promise.all(range(8).map((index) => storage.commit([fact(`during${index}`)])));
      expect(Date.now() - began).toBeLessThan(15_000);
      expect(answers.flat()).toEqual(range(8).map(() => ok));
      const after = Date.now();
      await Promise.all(range(8).map((index) => storage.commit([fact(`after${index}`)])));
      expect(Date.now() - after).toBeLessThan(2_000);
      const [there] = await ask(standby.url, `select count(*)::int as count from paystate."paystateFacts"`);
      expect(there).toEqual({ count: 24 });
    },
    120_000,
  );

  test("a primary that is lost under load, its synchronous standby promoted: what was acknowledged is there, and once", async ({
    open,
    own,
  }) => {
    const primary = await own(startPostgres());
    const standby = await own(startStandby(primary));
    await ask(primary.url, "alter system set synchronous_standby_names to '*'");
    await ask(primary.url, "select pg_reload_conf()");
    await untilTrue(primary.url, "select bool_or(sync_state = 'sync') from pg_stat_replication");
    const proxy = await own(postgresProxy(primary.url));
    const storage = await open(proxy.url, {});
    await storage.fact("");
    const load = underLoad(storage);
    await sleep(300);
    await primary.kill();
    await ask(standby.url, "select pg_promote(true, 60)");
    await untilTrue(standby.url, "select not pg_is_in_recovery()");
    proxy.lead(standby.url);
    await sleep(500);
    const acknowledged = await load.stop();
    expect(acknowledged.length).toBeGreaterThan(20);
    expect(await Promise.all(acknowledged.map((id) => storage.fact(id)))).toEqual(acknowledged);
  }, 120_000);

  test("D33: of two hosts in the URL the one that takes writes is used, at opening and after a failover", async ({
    machines: { primary, standby },
    open,
  }) => {
    const both = `postgres://paystate@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`;
    const storage = await open(both, {});
    const load = underLoad(storage);
    await sleep(300);
    await untilTrue(primary.url, "select count(*) = 1 from pg_stat_replication");
    await ask(primary.url, "alter system set synchronous_standby_names to '*'");
    await ask(primary.url, "select pg_reload_conf()");
    await untilTrue(primary.url, "select bool_or(sync_state = 'sync') from pg_stat_replication");
    await sleep(200);
    await primary.kill();
    await sleep(500);
    await ask(standby.url, "select pg_promote(true, 60)");
    await sleep(1_000);
    const acknowledged = await load.stop();
    expect(acknowledged.length).toBeGreaterThan(20);
    expect(await Promise.all(acknowledged.map((id) => storage.fact(id)))).toEqual(acknowledged);
    expect(await ask(standby.url, "select pg_is_in_recovery() as follows")).toEqual([{ follows: false }]);
  }, 120_000);

  test("D33, D31: of two hosts a standby that is behind is not read, also while the primary starts again", async ({
    machines: { primary, standby },
    open,
  }) => {
    const both = `postgres://paystate@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
    const storage = await open(both);
    expect(await storage.commit([fact("old")])).toEqual([ok]);
    await caughtUp(primary);
    await ask(standby.url, "select pg_wal_replay_pause()");
    expect(await storage.commit([fact("new")])).toEqual([ok]);
    await primary.kill();
    const read = storage.fact("new");
    await sleep(500);
    await primary.restart();
    expect(await read).toBe("new");
    expect(await storage.fact("new")).toBe("new");
    await ask(standby.url, "select pg_wal_replay_resume()");
  }, 120_000);

  test("D32: what a role may not make again is said, and goes on when it may", async ({ server, open }) => {
    await ask(server.url, "create role low login; grant all on database postgres to low");
    const url = `postgres://low@127.0.0.1:${server.port}/postgres`;
    const storage = await open(url);
    expect(await storage.commit([fact("f")])).toEqual([ok]);
    await ask(server.url, "alter schema paystate owner to paystate; revoke all on schema paystate from low");
    expect(await storage.commit([fact("g"), fact("h")])).toMatchObject([
      { conflict: "failed", error: { code: "no_rights" } },
      { conflict: "failed", error: { code: "no_rights" } },
    ]);
    await expect(storage.fact("f")).rejects.toMatchObject({ code: "no_rights" });
    await ask(server.url, "alter schema paystate owner to low");
    expect(await storage.commit([fact("g")])).toEqual([ok]);
  }, 120_000);

  test("D33: several hosts that hide which server they are, are refused", async ({ server, own }) => {
    await ask(server.url, "create role low login; grant all on database postgres to low");
    await ask(server.url, "revoke execute on function pg_control_system() from public");
    const one = `127.0.0.1:${server.port}`;
    await expect(postgresStorage(`postgres://low@${one},${one}/postgres`)).rejects.toMatchObject({
      code: "cannot_open",
      message: expect.stringContaining("pg_control_system") as unknown,
    });
    const single = await own(postgresStorage(`postgres://low@${one}/postgres`));
    expect(await single.commit([{ starts: [startOf("i")] }])).toEqual([ok]);
  }, 120_000);

  test("D32: tables, functions and the schema that are gone are made again by the living process", async ({
    server,
    open,
  }) => {
    const storage = await open(server.url);
    expect(await storage.commit([fact("f")])).toEqual([ok]);
    const gone = [
      "do $$ declare f text; begin for f in select oid::regprocedure from pg_proc where pronamespace = 'paystate'::regnamespace loop execute 'drop function ' || f || ' cascade'; end loop; end $$",
      `drop table paystate."paystateFacts"; delete from paystate."paystateTables" where name = 'paystateFacts'`,
      "drop schema paystate cascade",
    ];
    for (const [index, text] of gone.entries()) {
      await ask(server.url, text);
      const both = [
        storage.commit([fact(`f${index}`)]),
        storage.commit([{ starts: [startOf(`i${index}`)] }]),
      ];
      expect((await Promise.all(both)).flat()).toEqual([ok, ok]);
      expect(await storage.fact(`f${index}`)).toBe(`f${index}`);
      await ask(server.url, text);
      expect(await storage.fact("g")).toBeNull();
    }
  }, 120_000);

  test.for([
    `drop table paystate."paystateWriters"`,
    "do $$ begin execute (select 'drop function ' || oid::regprocedure from pg_proc where proname like 'paystate_apply_%'); end $$",
  ])(
    "D32: what is gone alone is made again as well: %s",
    { timeout: 120_000 },
    async (text, { server, open }) => {
      const storage = await open(server.url);
      expect(await storage.commit([fact("f")])).toEqual([ok]);
      await ask(server.url, text);
      expect(await storage.commit([fact("g")])).toEqual([ok]);
      const later = await postgresStorage(server.url, { clock: "caller", listen: false });
      await later.close();
    },
  );

  test("D32: on another server that has nothing of paystate nothing is made, and nothing is committed", async ({
    server,
    open,
    own,
  }) => {
    const stranger = await own(startPostgres());
    const proxy = await own(postgresProxy(server.url));
    const storage = await open(proxy.url);
    expect(await storage.commit([fact("f")])).toEqual([ok]);
    proxy.lead(stranger.url);
    await expect(storage.fact("f")).rejects.toMatchObject({ code: "unavailable" });
    const refused = { conflict: "failed", error: { code: "unavailable" } };
    expect(await storage.commit([fact("g"), fact("h")])).toMatchObject([refused, refused]);
    expect(await ask(stranger.url, "select 1 from pg_namespace where nspname = 'paystate'")).toEqual([]);
    proxy.lead(server.url);
    expect(await storage.fact("f")).toBe("f");
    expect(await storage.commit([fact("g")])).toEqual([ok]);
  }, 120_000);

  test.skipIf(!mayMount())(
    "D1, D12: with a disk that is full each item is there or not as it was answered, and there is more when there is room",
    async ({ server, open, onTestFinished }) => {
      const disk = await mkdtemp(join(tmpdir(), "paystate-disk-"));
      const mount = (size: string, ...more: string[]): unknown =>
        execFileSync("mount", ["-t", "tmpfs", "-o", [...more, `size=${size}`].join(), "none", disk]);
      mount("6m");
      onTestFinished(async () => {
        execFileSync("umount", ["-l", disk]);
        await rm(disk, { recursive: true });
      });
      const { uid = 0, gid = 0 } = unprivileged();
      await chown(disk, uid, gid);
      await ask(server.url, `create tablespace small location '${disk}'`);
      await ask(server.url, "alter role paystate set default_tablespace to small");
      const storage = await open(server.url, {});
      await storage.fact("");
      const acknowledged: string[] = [];
      // What cannot be compressed away.
      const big = (): string => randomBytes(100_000).toString("base64");
      const refused: string[] = [];
      const reasons: unknown[] = [];
      for (let group = 0; refused.length === 0 && group < 500; group += 1) {
        const ids = range(4).map((index) => `${group}-${index}`);
        const answers = await storage.commit(ids.map((id) => fact(id, big())));
        for (const [index, id] of ids.entries()) {
          const answer = answers[index];
          (answer?.ok === true ? acknowledged : refused).push(id);
          if (answer?.ok !== true) reasons.push(answer);
        }
      }
      expect(refused.length).toBeGreaterThan(0);
      expect(reasons).toMatchObject(
        refused.map(() => ({ conflict: "failed", error: { code: "disk_full" } })),
      );
      expect(await Promise.all(refused.map((id) => storage.fact(id)))).toEqual(refused.map(() => null));
      mount("64m", "remount");
      expect(await storage.commit(refused.map((id) => fact(id)))).toEqual(refused.map(() => ok));
      const there = await Promise.all(acknowledged.map(async (id) => (await storage.fact(id)) !== null));
      expect(there).toEqual(acknowledged.map(() => true));
    },
    120_000,
  );

  test.skipIf(!HAS_PGBOUNCER)(
    "PgBouncer hands out its connections per transaction: all goes on, and the self-test says what it swallows",
    async ({ server, own }) => {
      const pooler = await own(startPgbouncer(server.url));
      const both = [
        await own(postgresStorage(pooler.url, { clock: "caller", listen: server.url })),
        await own(postgresStorage(pooler.url, { clock: "caller", lockTimeoutMs: 100 })),
      ];
      const [one, other] = both.map(paymentStorage) as [PaymentStorage, PaymentStorage];
      await one.fact("");
      expect(await both[0]?.hintsArrive(), "past the pooler").toBe(true);
      expect(await both[1]?.hintsArrive(), "through the pooler").toBe(false);
      const loads = [underLoad(one), underLoad(other, "x")];
      await one.commit([{ starts: [startOf("i")], arms: [{ task: taskOf("t") }] }]);
      const steps = await Promise.all([one, other].map((each) => each.commit([{ step: stepOf("i", 1) }])));
      expect(steps.flat().filter((result) => result.ok)).toHaveLength(1);
      expect((await Promise.all([one, other].map((each) => claim(each, 0)))).flat()).toHaveLength(1);
      await sleep(300);
      const acknowledged = (await Promise.all(loads.map((load) => load.stop()))).flat();
      expect(acknowledged.length).toBeGreaterThan(20);
      // What one transaction sets is gone with it: a session of another client has the server's own limits.
      const [row] = await ask(
        pooler.url,
        "select current_setting('search_path') as path, current_setting('lock_timeout') as wait",
      );
      expect(row).toEqual({ path: '"$user", public', wait: "0" });
    },
    120_000,
  );
});

/** Whether this user may mount a disk of a few megabytes: a test's own, which is full soon. */
function mayMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    execFileSync("unshare", ["--mount", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
