/** A file of SQLite that a host has had its tables in before. */
// modules: retention, host-sql
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test as vitestTest, vi } from "vitest";
import { setup } from "xstate";
import { createEngine, defineTable, type Table, workflow } from "paystate/engine";
import { commitOne } from "../../storage/decided.ts";
import { backupSqlite, readOnlySqlite, sqliteStorage } from "../../storage/sqlite.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { NAMESAKES, READ_NAMESAKES } from "../kit/namesakes.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { passed } from "../payments/retention/passing.ts";
import { refusal } from "./refusal.ts";

const parcels = workflow(
  setup({ types: { events: {} as { type: "SHIP" } } }).createMachine({
    id: "parcel",
    initial: "packed",
    states: { packed: { on: { SHIP: "shipped" } }, shipped: { type: "final" } },
  }),
)({ version: 1 });

const SHOP = `
  pragma auto_vacuum = incremental; pragma application_id = 1234; pragma user_version = 7;
  create table orders (id text primary key, total integer);
  create index orders_total on orders (total);
  create view dear as select * from orders where total > 100;
  create table audit (id text);
  create trigger orders_audit after insert on orders begin insert into audit values (new.id); end;
  create virtual table texts using fts5 (body);
  insert into orders values ('o-1', 120); insert into texts values ('tea from Ceylon');`;

const test = vitestTest
  .extend("folder", async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    onCleanup(() => rm(folder, { recursive: true }));
    return folder;
  })
  .extend("path", ({ folder }) => join(folder, "shop.db"))
  .extend("shop", ({ path }, { onCleanup }) => {
    const shop = new Database(path);
    onCleanup(() => void shop.close());
    shop.exec(SHOP);
    return shop;
  });

/** Whoever claims no task. */
const NOBODY = {
  holder: "nobody",
  leaseMs: 1_000,
  workflows: [parcels.key],
  steps: 1,
  free: 1,
  limited: 1,
  maxCrashes: 5,
} as const;

const orderIds = (shop: Database.Database): unknown[] =>
  shop.prepare("select id from dear order by id").pluck().all();

test("a storage on the host's own connection waits while a transaction of the host is open over an await", async ({
  shop,
}) => {
  const storage = await sqliteStorage(shop);
  const engine = createEngine({ storage, workflows: [parcels], logger: silentLogger });
  engine.run();
  await engine.ready();
  for (const end of ["commit", "rollback"]) {
    shop.exec(`begin; insert into orders values ('${end}', 150)`);
    const calls = [
      engine.start(parcels, { id: `p-${end}`, input: undefined }),
      engine.pending(`p-${end}`),
      storage.claim({ ...NOBODY, now: 1 }),
    ];
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(shop.inTransaction).toBe(true);
    shop.exec(end);
    expect(await Promise.all(calls)).toMatchObject([{ ok: true }, { tasks: [] }, []]);
    expect((await engine.send(parcels, `p-${end}`, { type: "SHIP" })).kind).toBe("stepped");
  }
  expect(orderIds(shop)).toEqual(["commit", "o-1"]);
  await engine.stop();
  await storage.close();
});

test.for(["begin", "begin; insert into orders values ('o-2', 150)"])(
  "a storage that opens on the host's own connection waits for the host where it says %s between any two steps of it",
  async (sql, { folder }) => {
    let isOpen = false;
    for (let steps = 0; !isOpen; steps++) {
      const shop = new Database(join(folder, `shop-${steps}.db`));
      shop.exec(SHOP);
      const opened = sqliteStorage(shop).then(
        (storage) => {
          isOpen = true;
          return storage;
        },
        (error: unknown) => error as Error,
      );
      for (let step = 0; step < steps; step++) await Promise.resolve();
      const isBetween: boolean = !isOpen;
      shop.exec(sql);
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      expect(shop.inTransaction).toBe(true);
      shop.exec("commit");
      const storage = await opened;
      if (storage instanceof Error) throw storage;
      isOpen = !isBetween;
      expect(shop.pragma("journal_mode", { simple: true })).toBe("wal");
      expect(await commitOne(storage, {})).toEqual({ ok: true });
      await storage.close();
      shop.close();
    }
  },
);

test("a transaction of the host that stays open for five seconds is told of, and is not ended", async ({
  shop,
}) => {
  const storage = await sqliteStorage(shop);
  shop.exec("begin; insert into orders values ('o-2', 150)");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const failed = refusal(commitOne(storage, {}));
  await vi.advanceTimersByTimeAsync(5_100);
  expect(await failed).toMatchObject({
    code: "busy",
    message: expect.stringContaining("a transaction of yours stayed open") as string,
  });
  expect(shop.inTransaction).toBe(true);
  shop.exec("commit");
  expect(orderIds(shop)).toEqual(["o-1", "o-2"]);
  expect(await commitOne(storage, {})).toEqual({ ok: true });
  await storage.close();
});

test("F1: an engine works in the file of a host, beside its tables, in its transactions, and changes nothing of them", async ({
  path,
  shop,
}) => {
  const storage = await sqliteStorage(path);
  const engine = createEngine({ storage, workflows: [parcels], logger: silentLogger });
  engine.run();
  try {
    await engine.ready();
    const order = (id: string, isKept: boolean): void => {
      shop.prepare("insert into orders values (?, 150)").run(id);
      engine.start(parcels, { id, input: undefined }, { within: shop });
      if (!isKept) throw new Error("no money");
    };
    const ordered = shop.transaction(order);
    ordered.immediate("o-2", true);
    expect(() => ordered.immediate("o-3", false)).toThrow("no money");
    await engine.send(parcels, "o-2", { type: "SHIP" });
    expect((await engine.waitFor(parcels, "o-2", "final")).value).toBe("shipped");
    expect(await engine.read("o-3")).toBeNull();
    expect(orderIds(shop)).toEqual(["o-1", "o-2"]);
    expect(shop.prepare("select id from audit order by id").pluck().all()).toEqual(["o-1", "o-2"]);
    expect(shop.pragma("application_id", { simple: true })).toBe(1234);
    expect(shop.pragma("user_version", { simple: true })).toBe(7);
    expect(shop.pragma("auto_vacuum", { simple: true })).toBe(2);
    // The one thing of the file that others notice.
    expect(shop.pragma("journal_mode", { simple: true })).toBe("wal");
  } finally {
    await engine.stop();
    await storage.close();
  }
});

test("F2: a table of an engine under the name of a host's is refused, and the host's is left as it is", async ({
  path,
  shop,
}) => {
  const orders = defineTable("orders", { columns: { id: "text", total: "integer" } });
  const storage = await sqliteStorage(path);
  const { code, message } = await refusal(storage.install([orders]));
  expect([code, message]).toEqual([
    "other_table",
    expect.stringMatching(/has the table "?orders"?, which is not/),
  ]);
  await storage.close();
  expect(shop.prepare("select * from orders").all()).toEqual([{ id: "o-1", total: 120 }]);
});

test.for([
  ["of the engine", "PaystateHistory", "foreign_database"],
  ["of the schema", "paystateSchema", "foreign_database"],
  ["that was installed", "notes", "foreign_database"],
  ["to be installed", "plans", "other_table"],
])(
  "F2: a temporary table named as one %s is refused: its rows end with the connection",
  async ([, name, code], { path, shop }) => {
    const table = (called: string): Table<{ readonly id: string }> =>
      defineTable(called, { columns: { id: "text" } });
    const before = await sqliteStorage(path);
    await before.install([table("notes")]);
    await before.close();
    shop.exec(`create temp table "${name}" (id text)`);
    const opened = async (): Promise<void> => {
      await (await sqliteStorage(shop)).install([table("notes"), table("plans")]);
    };
    expect(await refusal(opened())).toEqual({
      code,
      message: expect.stringContaining(`a temporary table "${name}", which hides`) as string,
    });
    expect(shop.prepare("select 1 from main.sqlite_master where name = 'plans'").get()).toBeUndefined();
    shop.exec(`drop table temp."${name}"`);
    await opened();
  },
);

/** What the host has, by its kind, and what it says. */
const hostsOwn = (shop: Database.Database): unknown[] => [
  ...shop.prepare("select type, name, sql from main.sqlite_master where name not like '%paystate%'").all(),
  shop.prepare(READ_NAMESAKES).pluck().get(),
];

test("F14: a host's own tasks, instances, watches and history stay as they are while an engine begins, steps, removes and is copied", async ({
  folder,
  path,
  shop,
}) => {
  shop.exec(NAMESAKES);
  const before = hostsOwn(shop);
  const clock = virtualClock();
  const storage = await sqliteStorage(path);
  const engine = createEngine({
    storage,
    workflows: [parcels],
    clock,
    keep: { finished: "1h" },
    logger: silentLogger,
  });
  engine.run();
  await engine.ready();
  const begin = shop.transaction(() =>
    engine.start(parcels, { id: "p-1", input: undefined }, { within: shop }),
  );
  begin.immediate();
  await engine.start(parcels, { id: "p-2", input: undefined });
  await engine.send(parcels, "p-1", { type: "SHIP" });
  await engine.waitFor(parcels, "p-1", "final");
  await engine.settled();
  const copy = join(folder, "copy.db");
  await backupSqlite(path, copy);
  clock.advance(2 * 3_600_000);
  await passed(clock, async () => (await engine.retention()).lastPassAt);
  expect(await engine.read("p-1")).toBeNull();
  await engine.stop();
  await storage.close();
  const read = await readOnlySqlite(copy);
  const copied = createEngine({ storage: read, workflows: [parcels] });
  expect((await copied.list(parcels)).instances.map(({ id, value }) => [id, value])).toEqual([
    ["p-2", "packed"],
    ["p-1", "shipped"],
  ]);
  await read.close();
  expect(hostsOwn(shop)).toEqual(before);
});

/** As a process without an extension of the host sees the extension's module and collation. */
const UNKNOWN = `create index by_name on orders (id collate nocase);
  pragma writable_schema = on;
  insert into sqlite_master (type, name, tbl_name, rootpage, sql) values
    ('table', 'vectors', 'vectors', 0, 'CREATE VIRTUAL TABLE vectors USING vec0(x)'),
    ('view', 'near', 'near', 0, 'CREATE VIEW near AS SELECT * FROM vectors');
  update sqlite_master set sql = replace(sql, 'nocase', 'german') where name = 'by_name';
  pragma writable_schema = reset`;

test.for([
  [
    "a view and an index with its own function",
    "create view loud as select shout(id) from orders; create index louder on orders (shout(id))",
    null,
  ],
  ["a view over a table that is gone", "create view lost as select * from gone", "view lost"],
  ["a module and a collation that this process has not", UNKNOWN, "index by_name"],
] as const)(
  "F13: a file in which the host has %s opens, and takes tables and their migrations",
  async ([, sql, inTheWay], { path, shop }) => {
    shop.function("shout", { deterministic: true }, (text) => `${String(text)}!`);
    shop.unsafeMode(true);
    shop.exec(sql);
    shop.unsafeMode(false);
    const columns = { id: "text", text: "text" } as const;
    const add = { add: { text: "" } };
    const first = defineTable("notes", { columns: { id: "text", old: "text" } });
    const wider = defineTable("notes", { columns: { ...columns, old: "text" }, migrations: [add] });
    const last = defineTable("notes", { columns, migrations: [add, { drop: ["old"] }] });
    for (const table of [first, wider]) {
      const storage = await sqliteStorage(path);
      await storage.install([table]);
      await storage.close();
    }
    const storage = await sqliteStorage(path);
    // SQLite itself drops no column beside what it cannot resolve.
    if (inTheWay === null) await storage.install([last]);
    else {
      expect(await refusal(storage.install([last]))).toEqual({
        code: "other_table",
        message: expect.stringContaining(`while this file has the ${inTheWay}, which is not`) as string,
      });
    }
    await storage.close();
  },
);

test("what is not to be made is refused in the file of a host: a command that was given the wrong one", async ({
  path,
  shop,
  folder,
}) => {
  expect(await refusal(sqliteStorage(`${path}x`, { create: false }))).toEqual({
    code: "cannot_open",
    message: `there is no file ${path}x`,
  });
  expect((await readdir(folder)).filter((file) => file !== "shop.db")).toEqual([]);
  const { code } = await refusal(sqliteStorage(path, { create: false }));
  expect(code).toBe("foreign_database");
  expect((await refusal(readOnlySqlite(path))).code).toBe("foreign_database");
  expect(shop.pragma("journal_mode", { simple: true })).toBe("delete");
  expect(shop.prepare("select count(*) from sqlite_master where name like 'paystate%'").pluck().get()).toBe(
    0,
  );
});
