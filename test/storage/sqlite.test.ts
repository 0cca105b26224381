/** What SQLite promises beyond the contract: patience with locks, short transactions, idleness, and plain refusals. */
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sqliteStorage } from "../kit/storages.ts";
import { commitOne } from "../../storage/decided.ts";
import { SOL_MINT } from "../../src/core/address.ts";
import { installedStatements } from "../../storage/sql/install-statements.ts";
import {
  instanceStatements,
  leaseStatements,
  listStatements,
} from "../../storage/sql/instance-statements.ts";
import { withPlaces } from "../../storage/sql/statement.ts";
import { taskStatements } from "../../storage/sql/task-statements.ts";
import { dueStatements } from "../../storage/sqlite/task-rows.ts";
import { engineTables } from "../../storage/engine-tables.ts";
import { paymentTables, type PaymentStorage } from "../../src/payments/payment-storage.ts";
import {
  arm,
  claim,
  limitedTo,
  LEASE,
  ok,
  type PaymentCommit,
  put,
  range,
  startOf,
  stepOf,
  taskOf,
  WORKFLOW,
} from "../contracts/storage/samples.ts";
import { fullRows } from "../contracts/storage/rows.ts";
import { refusal } from "./refusal.ts";

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "paystate-"));
  path = join(folder, "test.db");
});

afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

const fact = (id: string): PaymentCommit => ({ writes: [{ table: "facts", insert: { id, value: id } }] });

/** Every read of the payment service, in every form that has a statement of its own. */
async function everyRead(storage: PaymentStorage): Promise<void> {
  const below = { createdAt: 1, id: "x" };
  for (const page of [
    { below: null, limit: 1 },
    { below, limit: 1 },
  ]) {
    for (const only of [null, { status: "failed" }, { reference: "x" }, { recipient: SOL_MINT }] as const) {
      await storage.transactionsOf("x", only, page);
    }
    await storage.deliveriesTo("x", page); // modules: webhooks
  }
  // modules: webhooks
  await put(storage, { writes: [{ table: "announcements", insert: { id: "n", accountId: "x", at: 1 } }] });
  // modules: webhooks
  for (const order of ["asc", "desc"] as const) {
    for (const beyond of [null, "n"]) await storage.announcements("x", { order, beyond, limit: 1 });
  }
  // modules: webhooks
  await put(storage, {
    writes: [{ table: "deliveries", insert: { ...fullRows.deliveries, status: "abandoned" } }],
  });
  await put(storage, { writes: [{ table: "audit", insert: fullRows.audit }] });
  await Promise.all([
    ...[storage.fact("x"), storage.apiKey("x"), storage.quote("x"), storage.transaction("x")],
    ...[
      storage.transactionsAfter("", 1),
      storage.orderViews(["x"]), // modules: private
      storage.orderAt(SOL_MINT), // modules: private
      storage.ordersAfter("", 1), // modules: private
      storage.orderStub("x"), // modules: private
      storage.transfer("x"), // modules: private
      storage.attemptsOfAny(["x"]),
      storage.stuckTransfers(1), // modules: private
      storage.putOffTransfers("x", 1), // modules: private
      storage.shortLevels(1), // modules: private
      storage.uncountedDeposits(1), // modules: private
    ],
    ...[storage.reservations("x"), storage.attempts(["x"]), storage.attemptLike("x", "y")],
    ...[storage.idempotency("x"), storage.notice("x"), storage.notices("x")],
    // modules: webhooks
    ...[storage.webhook("x"), storage.webhooks("x"), storage.deliveries("x"), storage.delivery("x")],
    ...[storage.deliveryAttempts("x"), storage.abandonedDeliveries(1)], // modules: webhooks
    ...[storage.limitWindow("x", "y", 1), storage.spent("x", 1), storage.volume("x", 1)],
    ...[storage.gates(["x"]), storage.gatesAfter("", 1), storage.matters(["x"]), storage.openMatters(1)],
    storage.openHolds(1), // modules: private
    storage.decision("x"),
    ...[storage.audit(null, 1), storage.audit("audit", 1)],
  ]);
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("locks", () => {
  test("another connection's lock is waited for, and the event loop goes on meanwhile", async () => {
    const storage = await sqliteStorage(path);
    const other = new Database(path);
    other.exec("begin immediate");
    let done = false;
    const commit = storage.commit([fact("f")]).then((results) => {
      done = true;
      return results;
    });
    // A busy timeout would hold this very thread, and the lock would never be given back.
    for (let turns = 0; turns < 50; turns += 1) await turn();
    expect(done).toBe(false);
    other.exec("commit");
    expect(await commit).toEqual([ok]);
    other.close();
    await storage.close();
  });

  test("D93: a call for a lease that has waited for the lock goes by the time of then: what another process took meanwhile is that one's", async () => {
    const storage = await sqliteStorage(path);
    const other = new Database(path);
    const clock = { time: 100_000 };
    other.exec("begin immediate");
    const late = storage.lease({ names: ["n"], holder: "h", now: () => clock.time, leaseMs: LEASE });
    for (let turns = 0; turns < 50; turns += 1) await turn();
    clock.time += 10 * LEASE;
    const taken = { name: "n", holder: "g", until: clock.time + LEASE, ms: LEASE };
    other
      .prepare("insert into paystateLeases (name, holder, until, ms) values (?, ?, ?, ?)")
      .run(...Object.values(taken));
    other.exec("commit");
    expect(await late).toEqual([{ name: "n", holder: "g", until: taken.until }]);
    other.close();
    await storage.close();
  });

  test("after five seconds of another's lock a commit fails with a sentence, and nothing of it is there", async () => {
    const storage = await sqliteStorage(path);
    const other = new Database(path);
    other.exec("begin immediate");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const failed = refusal(commitOne(storage, fact("f")));
    await vi.advanceTimersByTimeAsync(5_100);
    expect(await failed).toMatchObject({
      code: "busy",
      message: expect.stringContaining("5 seconds") as string,
    });
    vi.useRealTimers();
    other.exec("commit");
    other.close();
    expect(await storage.fact("f")).toBeNull();
    expect(await storage.commit([fact("f")])).toEqual([ok]);
    await storage.close();
  });

  test("idle: with nothing due, claims, leases and reads ask for no write lock", async () => {
    const storage = await sqliteStorage(path);
    await put(storage, {
      arms: [
        { task: taskOf("later", { dueAt: 1_000 }) },
        { task: limitedTo("limited", "key", 1, { dueAt: 1_000 }) },
      ],
    });
    const holding = { names: ["held"], holder: "h", leaseMs: 1_000 };
    const held = await storage.lease({ ...holding, now: () => 0 });
    const other = new Database(path);
    other.exec("begin immediate");
    expect(await claim(storage, 999)).toEqual([]);
    expect(await storage.nextDue([WORKFLOW])).toBe(1_000);
    expect(await storage.lease({ ...holding, now: () => 499 })).toEqual(held);
    expect(await storage.lease({ ...holding, holder: "g", now: () => 499 })).toEqual(held);
    expect((await storage.heartbeat({ holder: "h", tasks: [], now: 0, leaseMs: 1 })).lost).toEqual([]);
    expect(await storage.commit([])).toEqual([]);
    expect(await storage.load("i")).toBeNull();
    other.close();
    await storage.close();
  });
});

describe("batches", () => {
  /** How many physical transactions there were: each leaves a turn of the event loop to others before the next. */
  async function turnsDuring(work: Promise<unknown>): Promise<number> {
    let [turns, done] = [0, false];
    void work.finally(() => (done = true));
    while (!done) {
      await turn();
      turns += 1;
    }
    return turns;
  }

  test("a claim and a heartbeat do not wait for the disk, every commit does, also after one of them was refused the lock", async () => {
    const database = new Database(path);
    const levels: unknown[] = [];
    const pragma = database.pragma.bind(database);
    const storage = await sqliteStorage(
      Object.assign(database, {
        pragma: (source: string, options?: { simple?: boolean }) => {
          levels.push(source);
          return pragma(source, options);
        },
      }),
    );
    const level = (): unknown => pragma("synchronous", { simple: true });
    await put(storage, { starts: [startOf("i")], arms: [{ task: taskOf("t") }] });
    levels.length = 0;
    const [task] = await claim(storage, 0);
    expect(task?.id).toBe("t");
    expect(levels).toEqual(["synchronous = NORMAL", "synchronous = FULL"]);
    const held = { holder: "h", tasks: [{ id: "t", token: task?.token ?? 0 }], leaseMs: LEASE };
    await storage.heartbeat({ ...held, now: 1 });
    expect(levels.length).toBe(4);

    const other = new Database(path);
    other.exec("begin immediate");
    const late = storage.heartbeat({ ...held, now: 2 });
    await turn();
    expect(level(), "while it waits for its turn").toBe(2);
    other.exec("commit");
    other.close();
    await late;
    levels.length = 0;
    await storage.commit([fact("f")]);
    expect(levels).toEqual([]);
    expect(level()).toBe(2);
    await storage.close();
    database.close();
  });

  test("where the disk cannot be waited for again after a claim, the claim is answered and no commit goes without it", async () => {
    const database = new Database(path);
    const pragma = database.pragma.bind(database);
    let failures = 0;
    const storage = await sqliteStorage(
      Object.assign(database, {
        pragma(source: string, options?: { simple?: boolean }) {
          if (source === "synchronous = FULL" && failures > 0) {
            failures -= 1;
            throw new Error("disk I/O error");
          }
          return pragma(source, options);
        },
      }),
    );
    await put(storage, { starts: [startOf("i")], arms: [{ task: taskOf("t") }] });
    failures = 2;
    expect(await claim(storage, 0)).toMatchObject([{ id: "t" }]);
    await expect(commitOne(storage, fact("f"))).rejects.toThrow("disk I/O error");
    expect(await storage.fact("f")).toBeNull();
    await put(storage, fact("f"));
    expect(pragma("synchronous", { simple: true })).toBe(2);
    await storage.close();
    database.close();
  });

  test("a physical transaction ends after ten milliseconds of execution, and others have their turn", async () => {
    let now = 0;
    const storage = await sqliteStorage(path, { elapsed: () => (now += 1) });
    const work = storage.commit(range(100).map((index) => fact(`f${index}`)));
    expect(await turnsDuring(work)).toBeGreaterThanOrEqual(9);
    expect(await work).toEqual(range(100).map(() => ok));
    await storage.close();
  });
});

describe("the database", () => {
  test("a new file and its companions belong to their owner alone", async () => {
    const storage = await sqliteStorage(path);
    await storage.commit([fact("f")]);
    const files = await readdir(folder);
    expect(files.toSorted()).toEqual(["test.db", "test.db-shm", "test.db-wal"]);
    for (const file of files) expect((await stat(join(folder, file))).mode & 0o777, file).toBe(0o600);
    await storage.close();
  });

  test("a handed database gets the settings that durability needs and stays open; an opened one is closed", async () => {
    const database = new Database(path);
    // A host rebuilds tables with it off: the rows that refer to a dropped one would go with it.
    database.pragma("foreign_keys = OFF");
    const handed = await sqliteStorage(database);
    const setting = (name: string): unknown => database.pragma(name, { simple: true });
    expect(["journal_mode", "synchronous", "foreign_keys", "busy_timeout"].map(setting)).toEqual([
      "wal",
      2,
      0,
      0,
    ]);
    await handed.close();
    expect(database.open).toBe(true);
    database.close();
    const opened = await sqliteStorage(path);
    await opened.close();
    await opened.close();
    await expect(opened.load("i")).rejects.toMatchObject({ name: "StorageUnusable", code: "unavailable" });
  });

  test("its tables have the columns that the descriptions of the tables have", async () => {
    const database = new Database(path);
    await sqliteStorage(database);
    const given = Object.values(paymentTables).map(({ sqlName, columns }) => [sqlName, { columns }] as const);
    for (const [name, { columns }] of [...Object.entries(engineTables), ...given]) {
      const rows = database.pragma(`table_info(${name})`) as { name: string; notnull: number }[];
      const found = rows.filter((row) => row.name !== "seq").map((row) => [row.name, row.notnull === 0]);
      expect(Object.fromEntries(found), name).toEqual(
        Object.fromEntries(Object.entries(columns).map(([field, kind]) => [field, kind.endsWith("?")])),
      );
    }
    database.close();
  });

  test("every statement that runs again and again seeks: none reads a whole table or sorts one", async () => {
    const database = new Database(path);
    const prepared: string[] = [];
    const storage = await sqliteStorage({
      get inTransaction() {
        return database.inTransaction;
      },
      prepare(sql) {
        prepared.push(sql);
        return database.prepare(sql);
      },
      pragma: (source) => database.pragma(source),
      close: () => database.close(),
    });
    // The schema has been made once.
    prepared.length = 0;
    await everyRead(storage);
    // The engine's own statements are all looked at, whether this test has run them or not.
    const { workflowAfter, ...tasks } = taskStatements;
    const instances = [instanceStatements, listStatements, leaseStatements];
    const own: readonly Readonly<Record<string, { readonly text: string }>>[] = [
      dueStatements,
      workflowAfter,
      tasks,
      ...instances,
      installedStatements,
    ];
    const written = own
      .flatMap((statements) => Object.values(statements))
      .map(({ text }) => withPlaces(text, () => "?"));
    expect(written.length).toBeGreaterThan(40);
    const hot = [...new Set([...prepared, ...written])].filter(
      (sql) => /^(select|update|delete)/.test(sql) && !sql.includes("sqlite_"),
    );
    expect(hot.length).toBeGreaterThan(30);
    // SQLite compiles a statement again each time a number is bound that stands alone behind LIMIT.
    expect(prepared.filter((sql) => / limit \?(?! \+ 0)/.test(sql))).toEqual([]);
    expect(prepared.filter((sql) => sql.includes(" limit ? + 0")).length).toBeGreaterThan(5);
    const plans = hot.map((sql) => {
      const parameters = sql
        .split("?")
        .slice(1)
        .map(() => null);
      const steps = database.prepare(`explain query plan ${sql}`).all(...parameters) as { detail: string }[];
      return { sql, plan: steps.map(({ detail }) => detail).join("; ") };
    });
    // Pragmas that are asked like tables, for the size of the file, have one row each; a list of keys is read once, and so are
    // the parts of a sum, which were sought.
    const slow = plans
      // The tasks before a parked one are sought, and a thousand at most are counted.
      .filter(({ sql }) => !sql.includes("parts_earlier"))
      .filter(({ plan }) => /(^|; )SCAN (?!pragma_|json_each|parts)|TEMP B-TREE/.test(plan));
    expect(slow.map(({ sql }) => sql)).toEqual([
      // What waits for an operator is all that these indexes hold.
      expect.stringContaining(`from "paystateLevels" where "short" = 1`), // modules: private
      expect.stringContaining(`from "paystateDeposits" where "leftAt" is null and "account" is not null`), // modules: private
      expect.stringContaining(`from "paystateDeliveries" where "status" = 'abandoned'`), // modules: webhooks
      expect.stringContaining(`from "paystateHolds" where "endedAt" is null`), // modules: private
      // The log of the operators' acts, page by page in the order of its rows.
      expect.stringContaining(`from "paystateAudit" order by`),
      // All that this index holds has crashed, and one row is enough.
      expect.stringContaining(`"crashedAt" is not null limit 1`),
    ]);
    database.close();
  });
});

test("a database in memory is one of its own", async () => {
  const [one, two] = [await sqliteStorage(":memory:"), await sqliteStorage(":memory:")];
  await put(one, { starts: [startOf("i")] });
  await arm(one, taskOf("t"));
  expect(await two.load("i")).toBeNull();
  expect((await claim(one, 0)).length).toBe(1);
  await one.close();
  await two.close();
});

test("G8: an item is not judged beside what a refused item of its batch has left for a moment", async () => {
  const storage = await sqliteStorage(":memory:");
  await arm(storage, taskOf("t"));
  const refused = {
    starts: [startOf("j")],
    writes: [{ table: "facts" as const, id: "f", set: { value: "" } }],
  };
  // Beside the instance it would be a mistake: the id of its task is taken.
  const late = { step: stepOf("j", 1), arms: [{ task: taskOf("t") }] };
  expect(await storage.commit([refused, late])).toEqual([
    { ok: false, conflict: "write", index: 0 },
    { ok: false, conflict: "step" },
  ]);
  await storage.close();
});
