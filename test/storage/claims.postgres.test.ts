/** Claims on PostgreSQL that go on behind a lock, while somebody else has changed what they had found. */
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { arm, claim, ids, LEASE, limitedTo, taskOf } from "../contracts/storage/samples.ts";
import { postgresDatabase, type PostgresDatabase } from "../kit/postgres-database.ts";
import { postgresStorage } from "../kit/storages.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

describe.skipIf(!HAS_POSTGRES)("a claim that waits for a lock", () => {
  let database: PostgresDatabase;
  let storage: PaymentStorage;
  let other: PaymentStorage;
  let stranger: pg.Client;
  beforeEach(async () => {
    database = await postgresDatabase();
    storage = await postgresStorage(database.open);
    other = await postgresStorage(database.open);
    stranger = new pg.Client({ connectionString: database.url });
    await stranger.connect();
    await stranger.query(`set search_path to "${database.schema}"`);
  });
  afterEach(async () => {
    await stranger.end();
    await storage.close();
    await other.close();
    await database.destroy();
  });

  async function untilOneWaits(): Promise<void> {
    const waits = "select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))";
    while ((await stranger.query(waits)).rows.length === 0) await new Promise(setImmediate);
  }

  test("D71, G6: takes no task from who has begun it meanwhile, and a limit of one has one", async () => {
    await arm(storage, limitedTo("locked", "K", 1), limitedTo("begun", "L", 1));
    await arm(storage, limitedTo("parked", "L", 1, { priority: 5 }));
    await stranger.query(`begin; select from "paystateTasks" where id = 'locked' for update`);
    // It knows none of them, and would have those give their room up that nobody claims.
    const waiting = claim(storage, 40_000, { holder: "stranger", workflows: ["other@1"] });
    await untilOneWaits();
    expect(ids(await claim(other, 40_000, { holder: "living" }))).toEqual(["begun"]);
    await stranger.query("commit");
    expect(await waiting).toEqual([]);
    const tasks = await storage.tasks({ order: "instance", instance: "i", limit: 9 });
    expect(tasks.map(({ id, isHeld, crashes }) => [id, isHeld, crashes])).toEqual([
      ["locked", false, 0],
      ["begun", true, 0],
      ["parked", false, 0],
    ]);
    expect(await claim(other, 40_001)).toEqual([]);
  });

  test("D71: judges no holder whose leases were extended meanwhile", async () => {
    await arm(storage, taskOf("a"), taskOf("b"));
    await claim(storage, 0, { holder: "before" });
    expect(ids(await claim(storage, LEASE, { holder: "one", free: 1 }))).toEqual(["a"]);
    expect(ids(await claim(storage, LEASE, { holder: "two", free: 1 }))).toEqual(["b"]);
    // The first hand to be judged is judged until the stranger lets go.
    await stranger.query(`
      create function judged_slowly() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock(71); return new; end';
      create trigger judged_slowly before update of missed on "paystateTasks" for each row
        when (new.missed = 1) execute function judged_slowly();
      select pg_advisory_lock(71)`);
    const waiting = claim(storage, 2 * LEASE);
    await untilOneWaits();
    const beat = { now: 2 * LEASE, leaseMs: LEASE };
    await other.heartbeat({ holder: "one", tasks: [{ id: "a", token: 2 }], ...beat });
    await other.heartbeat({ holder: "two", tasks: [{ id: "b", token: 2 }], ...beat });
    await stranger.query(`select pg_advisory_unlock(71); drop function judged_slowly cascade`);
    await waiting;
    const crashes = (await storage.tasks({ order: "instance", instance: "i", limit: 9 })).map(
      (task) => task.crashes,
    );
    expect(crashes.toSorted((a, b) => a - b)).toEqual([1, 2]);
  });
});
