/** PostgreSQL when things go wrong: what was acknowledged is there, what is unknown is looked up, and nothing is done twice. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { describe, expect } from "vitest";
import { commitOne } from "../../storage/decided.ts";
import { paymentStorage, type PaymentStorage } from "../../src/payments/payment-storage.ts";
import { postgresStorage, type PostgresOptions, type PostgresStorage } from "../../storage/postgres.ts";
import {
  claim,
  LEASE,
  ok,
  type PaymentCommit,
  range,
  startOf,
  stepOf,
  taskOf,
} from "../contracts/storage/samples.ts";
import { startPostgres } from "../kit/postgres-server.ts";
import { postgresTest } from "../kit/postgres-test.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { refusal } from "./refusal.ts";

const fact = (id: string): PaymentCommit => ({ writes: [{ table: "facts", insert: { id, value: id } }] });

/** `through` opens a storage that reaches the database through the proxy. */
const test = postgresTest.extend("through", async ({ database, proxy }, { onCleanup }) => {
  const opened: PostgresStorage[] = [];
  onCleanup(async () => {
    for (const storage of opened) await storage.close();
  });
  return async (options: PostgresOptions = {}): Promise<PaymentStorage> => {
    const storage = await postgresStorage(proxy.url, {
      schema: database.schema,
      clock: "caller",
      ...options,
    });
    opened.push(storage);
    const payments = paymentStorage(storage);
    await payments.fact("");
    return payments;
  };
});

describe.skipIf(!HAS_POSTGRES)("PostgreSQL that fails", () => {
  test.for(["before", "after"] as const)(
    "D1: of a group whose connection is lost %s its commit each item is done once and answered truthfully",
    async (moment, { proxy, through }) => {
      const storage = await through();
      await storage.commit([{ starts: [startOf("i")] }, fact("taken")]);
      proxy.plan({ text: "paystate_commit", moment });
      const group = range(255).map((index) => fact(`f${index}`));
      const results = await storage.commit([...group.slice(0, 100), fact("taken"), ...group.slice(100)]);
      expect(proxy.happened()).toBe(1);
      expect(results.filter((result) => result.ok)).toHaveLength(255);
      expect(results[100]).toEqual({ ok: false, conflict: "write", index: 0 });
      const ids = range(255).map((index) => `f${index}`);
      expect(await Promise.all(ids.map((id) => storage.fact(id)))).toEqual(ids);
    },
  );

  test("a connection that is half open ends with the time that a statement may take", async ({
    proxy,
    through,
  }) => {
    const storage = await through({ statementTimeoutMs: 100 });
    proxy.plan({ text: "paystate_commit", moment: "silent" });
    expect(await storage.commit([fact("f")])).toEqual([ok]);
    expect(await storage.fact("f")).toBe("f");
  });

  test("a lock that a stranger holds is waited for so long and no longer, and then named", async ({
    database,
    through,
  }) => {
    const storage = await through({ lockTimeoutMs: 50 });
    await storage.commit([{ starts: [startOf("i")] }]);
    const stranger = new pg.Client({ connectionString: database.url });
    await stranger.connect();
    await stranger.query(`begin; lock table "${database.schema}"."paystateInstances"`);
    expect(await refusal(commitOne(storage, { step: stepOf("i", 1) }))).toEqual({
      code: "busy",
      message:
        "another session kept a lock for too long: find it in pg_locks and pg_stat_activity, and end it",
    });
    await stranger.query("rollback");
    expect(await storage.commit([{ step: stepOf("i", 1) }])).toEqual([ok]);
    await stranger.end();
  });

  test("D48: a heartbeat passes over what a stranger has locked, calls it unseen, and lost only where it is", async ({
    database,
    through,
  }) => {
    const storage = await through({ lockTimeoutMs: 50 });
    const names = ["locked", "free", "given back"];
    await storage.commit([{ arms: names.map((id) => ({ task: taskOf(id) })) }]);
    const tasks = (await claim(storage, 0)).map(({ id, token }) => ({ id, token }));
    expect(tasks.map(({ id }) => id)).toEqual(names);
    await storage.release({ id: "given back", token: 1, dueAt: LEASE, delayMs: LEASE });
    const stranger = new pg.Client({ connectionString: database.url });
    await stranger.connect();
    try {
      await stranger.query(
        `begin; select from "${database.schema}"."paystateTasks" where id = 'locked' for update`,
      );
      const beat = { holder: "h", tasks, leaseMs: LEASE };
      expect(await storage.heartbeat({ ...beat, now: 1 })).toEqual({
        lost: ["given back"],
        unseen: ["locked"],
      });
      const until = async (): Promise<object> =>
        Object.fromEntries(
          (await storage.tasks({ order: "instance", instance: "i", limit: 9 })).map((task) => [
            task.id,
            task.visibleAt,
          ]),
        );
      expect(await until()).toMatchObject({ locked: LEASE, free: LEASE + 1 });
      await stranger.query("rollback");
      expect(await storage.heartbeat({ ...beat, now: 2 })).toEqual({ lost: ["given back"], unseen: [] });
      expect(await until()).toMatchObject({ locked: LEASE + 2, free: LEASE + 2 });
    } finally {
      await stranger.end();
    }
  });

  test("transactions that meet in opposite orders all end, each once", async ({ through }) => {
    const storages = [await through(), await through()];
    const ids = range(20).map((index) => `i${index}`);
    await storages[0]?.commit(ids.map((id) => ({ starts: [startOf(id)] })));
    const steps = (order: readonly string[]): PaymentCommit[] => order.map((id) => ({ step: stepOf(id, 1) }));
    const both = await Promise.all([
      storages[0]?.commit(steps(ids)),
      storages[1]?.commit(steps(ids.toReversed())),
    ]);
    const won = both.flatMap((results) => results ?? []).filter((result) => result.ok);
    expect(won).toHaveLength(20);
  });
});

describe.skipIf(!HAS_POSTGRES)("hints", () => {
  test("D5: what one process arms wakes another, and what it arms itself does not", async ({ database }) => {
    const [storage, other] = [await database.open(), await database.open()];
    for (const each of [other, storage]) expect(await each.hintsArrive()).toBe(true);
    let own = 0;
    storage.onWake(() => (own += 1));
    const heard = new Promise<void>((resolve) => void other.onWake(resolve));
    await storage.commit([{ arms: [{ task: taskOf("t") }] }]);
    await heard;
    expect(own).toBe(0);
    await storage.close();
    await other.close();
  });
});

/** What waits for seconds of the machine waits beside one another. */
describe.skipIf(!HAS_POSTGRES)("waiting", () => {
  test.concurrent(
    "a pool whose connections are all in use says so, and goes on when one comes free",
    async ({ database }) => {
      const pool = new pg.Pool({ connectionString: database.url, max: 1, connectionTimeoutMillis: 500 });
      const storage = await postgresStorage(pool, { schema: database.schema, clock: "caller" });
      const taken = await pool.connect();
      const { code, message } = await refusal(commitOne(storage, { starts: [startOf("i")] }));
      expect([code, message]).toEqual(["busy", expect.stringContaining("raise the size of the pool")]);
      taken.release();
      expect(await storage.commit([{ starts: [startOf("i")] }])).toEqual([ok]);
      await storage.close();
      expect((await pool.query("select 1 as one")).rows, "what was given stays open").toEqual([{ one: 1 }]);
      await pool.end();
    },
  );

  test.concurrent(
    "a server that is killed under load and comes back: acknowledged commits are there, and none is done twice",
    async () => {
      const server = await startPostgres();
      const storage = await postgresStorage(server.url, { clock: "caller" });
      const payments = paymentStorage(storage);
      await payments.fact("");
      const acknowledged: string[] = [];
      let running = true;
      const write = async (writer: number): Promise<void> => {
        for (let index = 0; running; index += 1) {
          const id = `w${writer}-${index}`;
          const [result] = await payments.commit([fact(id)]);
          // Done twice it would be refused the second time.
          expect(result).toEqual(ok);
          acknowledged.push(id);
        }
      };
      const writers = range(4).map(write);
      for (let kills = 0; kills < 2; kills += 1) {
        await sleep(150);
        await server.kill();
        await server.restart();
      }
      await sleep(150);
      running = false;
      await Promise.all(writers);
      expect(acknowledged.length).toBeGreaterThan(20);
      const there = await Promise.all(acknowledged.map((id) => payments.fact(id)));
      expect(there).toEqual(acknowledged);
      await storage.close();
      await server.stop();
    },
  );

  test.concurrent(
    "behind a pooler that swallows notifications the self-test says so, and polling finds the work",
    async ({ database, proxy }) => {
      proxy.swallowNotifications();
      const storage = await postgresStorage(proxy.url, { schema: database.schema, clock: "caller" });
      expect(await storage.hintsArrive()).toBe(false);
      const past = await postgresStorage(proxy.url, { schema: database.schema, listen: database.url });
      expect(await past.hintsArrive(), "a URL past the pooler").toBe(true);
      const polling = await postgresStorage(proxy.url, { schema: database.schema, listen: false });
      expect(await polling.hintsArrive()).toBe(false);
      for (const each of [storage, past, polling]) await each.close();
    },
  );
});
