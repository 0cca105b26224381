/** Commits in a transaction of the host: its rows and the engine's are there together, or neither is. */
// modules: host-sql
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  CommitRefused,
  createEngine,
  type Engine,
  startOf,
  UnknownWorkflow,
  workflow,
  type WithinOptions,
} from "paystate/engine";
import type { EngineStorage } from "paystate/storage";
import Sqlite from "better-sqlite3";
import { setup } from "xstate";
import { Kysely, PostgresDialect } from "kysely";
import { Pool, type PoolClient } from "pg";
import { postgresStorage } from "paystate/storage/postgres";
import { sqliteStorage } from "paystate/storage/sqlite";
import { silentLogger } from "../../src/core/runtime.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";
import { type HostTables, notes, runsThat } from "./host-runs.ts";
import { hostDatabases, type Host, type HostConnection, type HostDatabase } from "./host-world.ts";

type OwnEngine = Engine<HostTables>;

/** On SQLite a call throws before it returns: here it rejects, as on PostgreSQL. */
async function done(call: () => unknown): Promise<void> {
  await call();
}

const isOnServer = (host: Host): host is PoolClient => "release" in host;

describe.each(hostDatabases)("within a transaction of the host on $name", ({ make }) => {
  let database: HostDatabase;
  let storage: EngineStorage;
  let engine: OwnEngine;
  let connection: HostConnection;
  let within: WithinOptions<Host>;
  let packed: string[];
  let runs: ReturnType<typeof runsThat>;

  const opened: EngineStorage[] = [];
  async function engineOn(): Promise<{ readonly engine: OwnEngine; readonly storage: EngineStorage }> {
    const own = await database.open();
    opened.push(own);
    const made = createEngine<HostTables>({
      storage: own,
      workflows: [runs],
      tables: { notes },
      logger: silentLogger,
    });
    await made.ready();
    return { engine: made, storage: own };
  }

  beforeEach(async () => {
    database = await make();
    packed = [];
    runs = runsThat((id) => packed.push(id));
    ({ engine, storage } = await engineOn());
    connection = await database.connect();
    within = { within: connection.host };
  });
  afterEach(async () => {
    await engine.stop();
    for (const each of opened.splice(0)) await each.close();
    await database.destroy();
  });

  const order = (id: string): Promise<unknown> =>
    connection.ask(`insert into ${database.orders} (id) values ('${id}')`);
  const orders = async (): Promise<unknown[]> => [
    ...(await connection.ask(`select id from ${database.orders} order by id`)),
  ];
  const start = (id: string, shop = "mitte"): Promise<void> =>
    done(() => engine.start(runs, { id, input: { shop } }, within));

  test("F1: the order and its run are there with the COMMIT, and nothing of them before", async () => {
    await connection.ask("begin");
    await order("o-1");
    await start("o-1");
    expect(await engine.read("o-1")).toBeNull();
    await connection.ask("commit");
    expect(await orders()).toEqual([{ id: "o-1" }]);
    expect(await engine.read("o-1")).toMatchObject({ value: "open" });
    engine.run();
    await engine.settled();
    expect(packed).toEqual(["o-1"]);
  });

  test("F1: a rollback leaves neither, and the id may be started again", async () => {
    engine.run();
    await connection.ask("begin");
    await order("o-1");
    await start("o-1");
    await done(() => engine.send(runs, "o-1", { type: "PART", part: "a" }, within));
    await connection.ask("rollback");
    await engine.settled();
    expect(await engine.read("o-1")).toBeNull();
    expect(await storage.tasks({ order: "instance", instance: "o-1", limit: 10 })).toEqual([]);
    expect(await orders()).toEqual([]);
    expect(await engine.start(runs, { id: "o-1", input: { shop: "mitte" } })).toMatchObject({ ok: true });
    await engine.settled();
    expect(packed).toEqual(["o-1"]);
  });

  test("F1: the COMMIT itself wakes a process that looks for work once a minute", async () => {
    const own = await database.open();
    opened.push(own);
    const rare = createEngine<HostTables>({
      storage: own,
      workflows: [runs],
      tables: { notes },
      pollMs: 60_000,
      logger: silentLogger,
    });
    await rare.ready();
    rare.run();
    await rare.settled();
    await connection.ask("begin");
    await done(() => rare.start(runs, { id: "o-1", input: { shop: "mitte" } }, within));
    await connection.ask("commit");
    await expect.poll(() => packed).toEqual(["o-1"]);
    await rare.stop();
  });

  test("F1: an open transaction keeps the engine from nothing", async () => {
    engine.run();
    await engine.start(runs, { id: "old", input: { shop: "mitte" } });
    await engine.settled();
    if (!isOnServer(connection.host)) return; // a file of SQLite has one writer at a time
    await connection.ask("begin");
    await start("o-1");
    await done(() => engine.send(runs, "old", { type: "PART", part: "late" }, within));
    // In the keys of the uncommitted tasks: the shop, and the messages to this instance.
    await engine.start(runs, { id: "o-2", input: { shop: "mitte" } });
    await engine.send(runs, "old", { type: "PART", part: "early" });
    await engine.settled();
    expect(packed).toEqual(["old", "o-2"]);
    await connection.ask("commit");
    await engine.settled();
    expect(packed).toEqual(["old", "o-2", "o-1"]);
    expect((await engine.read(runs, "old"))?.context.heard).toEqual(["early", "late"]);
  });

  test("F1: rows of the engine's own tables are part of it, a limit of their group among them", async () => {
    const note = (id: string, count: number) =>
      ({ table: "notes", insert: { id, shop: "mitte", at: 1 }, atMost: { count, since: 0 } }) as const;
    await connection.ask("begin");
    await done(() =>
      engine.commit({ starts: [startOf(runs, "o-1", { shop: "m" })], writes: [note("n-1", 1)] }, within),
    );
    const refused = done(() =>
      engine.commit({ starts: [startOf(runs, "o-2", { shop: "m" })], writes: [note("n-2", 1)] }, within),
    );
    await expect(refused).rejects.toMatchObject({ result: { ok: false, conflict: "write", index: 0 } });
    await order("o-1");
    await connection.ask("commit");
    expect(await storage.find({ table: notes, key: "n-1" })).toEqual([{ id: "n-1", shop: "mitte", at: 1 }]);
    expect(await storage.find({ table: notes, key: "n-2" })).toEqual([]);
    expect(await engine.read("o-2")).toBeNull();
    expect(await engine.read("o-1")).not.toBeNull();
  });

  test("F2: without a transaction, and after its end, a call is refused and adds nothing", async () => {
    await expect(start("o-1")).rejects.toThrow(/no transaction is open/);
    await connection.ask("begin");
    await start("o-2");
    await connection.ask("commit");
    await expect(start("o-3")).rejects.toThrow(/no transaction is open/);
    await connection.ask("begin");
    await connection.ask("rollback");
    await expect(start("o-4")).rejects.toThrow(/no transaction is open/);
    const ids = (await engine.list()).instances.map(({ id }) => id);
    expect(ids).toEqual(["o-2"]);
  });

  test("F2: a transaction on another database is refused, and goes on", async () => {
    const other = await database.elsewhere();
    await other.ask("begin");
    const started = done(() =>
      engine.start(runs, { id: "o-1", input: { shop: "mitte" } }, { within: other.host }),
    );
    await expect(started).rejects.toThrow(/on another (database|file) than the storage/);
    await other.ask("select 1");
    await other.ask("commit");
    expect(await engine.read("o-1")).toBeNull();
  });

  test("F2: a write that changes a row is refused: others would have to wait for it", async () => {
    await connection.ask("begin");
    const change = { table: "notes", id: "n-1", set: { shop: "wedding" } } as never;
    await expect(done(() => engine.commit({ writes: [change] }, within))).rejects.toThrow(/only adds rows/);
    await connection.ask("rollback");
  });

  test("F2: temporary tables of the host's session take no row of the engine", async () => {
    const names = isOnServer(connection.host)
      ? ["paystateInstances", "paystateTasks", "paystateHistory", "notes"].map(
          (name) => `"${name}" (like ${database.place[1]}."${name}")`,
        )
      : ["paystateInstances (id text)"];
    for (const name of names) await connection.ask(`create temp table ${name}`);
    const insert = { id: "n-1", shop: "mitte", at: 1 };
    const added = {
      starts: [startOf(runs, "o-1", { shop: "m" })],
      writes: [{ table: "notes", insert }],
    } as const;
    await connection.ask("begin");
    const refused = isOnServer(connection.host) ? "" : 'temporary table "paystateInstances"';
    const reason = done(() => engine.commit(added, within)).then(() => "", String);
    expect(await reason).toContain(refused);
    await connection.ask("commit");
    expect((await engine.read("o-1")) !== null).toBe(isOnServer(connection.host));
  });

  test("F1: a pool that the host shares with the storage: its transactions have all connections, and temporary tables", async () => {
    if (!isOnServer(connection.host)) return;
    const [url = "", schema = ""] = database.place;
    const pool = new Pool({ connectionString: url, max: 1 });
    onTestFinished(() => pool.end());
    const own = await postgresStorage(pool, { schema, clock: "caller" });
    opened.push(own);
    const shared = createEngine<HostTables>({
      storage: own,
      workflows: [runs],
      tables: { notes },
      logger: silentLogger,
    });
    await shared.ready();
    const client = await pool.connect();
    for (const name of ["paystateInstances", "paystateTasks", "paystateHistory"]) {
      await client.query(`create temp table "${name}" (like ${schema}."${name}" including all)`);
    }
    await client.query("begin");
    await shared.start(runs, { id: "o-1", input: { shop: "mitte" } }, { within: client });
    await client.query("commit");
    client.release();
    await shared.start(runs, { id: "o-2", input: { shop: "mitte" } });
    await shared.stop();
    for (const id of ["o-1", "o-2"]) expect(await engine.read(id)).not.toBeNull();
  });

  test("F2: a call that nobody awaits is refused where the COMMIT has overtaken it", async () => {
    if (!isOnServer(connection.host)) return; // on SQLite it is done when it returns
    await connection.ask("begin");
    const late = start("o-1");
    await Promise.all([connection.ask("commit"), expect(late).rejects.toThrow(/has ended before the call/)]);
    expect(await engine.read("o-1")).toBeNull();
  });

  test("F2: nothing is counted under repeatable read and serializable, and all else is added", async () => {
    if (!isOnServer(connection.host)) return; // on SQLite each transaction is serial
    for (const level of ["repeatable read", "serializable"]) {
      await connection.ask(`begin isolation level ${level}`);
      const insert = { id: level, shop: "mitte", at: 1 };
      const counted = { table: "notes", insert, atMost: { count: 9, since: 0 } } as const;
      const refused = done(() => engine.commit({ writes: [counted] }, within));
      await expect(refused).rejects.toThrow(`this transaction is ${level}`);
      await done(() => engine.commit({ writes: [{ table: "notes", insert }] }, within));
      await start(level);
      await connection.ask("commit");
      expect(await storage.find({ table: notes, key: level })).toHaveLength(1);
      expect(await engine.read(level)).not.toBeNull();
    }
  });

  test("F1: what other libraries hand out for the connection is as good as the connection", async () => {
    const { host } = connection;
    if (!isOnServer(host)) return;
    const rows = async (text: string): Promise<unknown> => (await host.query(text)).rows;
    const wrapped = {
      typeorm: { query: rows },
      prisma: { $queryRawUnsafe: rows },
      drizzle: { query: {}, execute: (text: string) => host.query(text) },
    };
    for (const [id, library] of Object.entries(wrapped)) {
      await connection.ask("begin");
      await engine.start(runs, { id, input: { shop: "it's \\ $1" } }, { within: library });
      await connection.ask("commit");
      expect((await engine.read(runs, id))?.context.shop).toBe("it's \\ $1");
    }
    const client = { query: host.query.bind(host), release: () => {} };
    const pool = { connect: async () => client, end: async () => {} };
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    await db.transaction().execute(async (transaction) => {
      await engine.start(runs, { id: "kysely", input: { shop: "mitte" } }, { within: transaction });
    });
    expect(await engine.read("kysely")).not.toBeNull();
  });

  test("F2: an event reaches no instance of another chart, and is not sent by a handle that the engine lacks", async () => {
    const handleOf = (id: string) =>
      workflow(setup({}).createMachine({ id, initial: "a", states: { a: { on: { PART: "b" } }, b: {} } }))({
        version: 1,
      });
    const [doors, lids] = [handleOf("door"), handleOf("lid")];
    const both = createEngine({ storage, workflows: [doors, lids], logger: silentLogger });
    await both.start(doors, { id: "d-1", input: undefined });
    await connection.ask("begin");
    await done(() => both.send(lids, "d-1", { type: "PART" }, within));
    const unknown = done(() => engine.send(lids as never, "d-1", { type: "PART" } as never, within));
    await expect(unknown).rejects.toThrow(UnknownWorkflow);
    await connection.ask("commit");
    both.run();
    const tried = async (): Promise<unknown> => (await both.failingTasks()).map((task) => task.lastError);
    await expect
      .poll(tried)
      .toEqual([expect.stringContaining("there is no instance d-1 of lid to tell PART")]);
    await both.stop();
    expect((await both.read("d-1"))?.value).toBe("a");
  });

  test("F2: a connection that was not set, and what is none, is refused in every call", async () => {
    await engine.start(runs, { id: "o-1", input: { shop: "mitte" } });
    for (const host of [undefined, null, "pool", {}] as never[]) {
      const given = { within: host };
      const calls = [
        () => engine.commit({}, given),
        () => engine.start(runs, { id: "o-2", input: { shop: "m" } }, given),
        () => engine.send(runs, "o-1", { type: "PART", part: "a" }, given),
      ];
      for (const call of calls) await expect(done(call)).rejects.toThrow(/^within: /);
    }
    expect((await engine.read(runs, "o-1"))?.context.heard).toEqual([]);
    expect(await engine.read("o-2")).toBeNull();
  });
});

describe("within a transaction of better-sqlite3", () => {
  let path: string;
  eachInFolder((folder) => {
    path = join(folder, "shop.db");
  });
  const runs = runsThat(() => {});
  const engineOn = (storage: EngineStorage): OwnEngine =>
    createEngine<HostTables>({ storage, workflows: [runs], tables: { notes }, logger: silentLogger });

  test("F1: a refusal that is thrown takes the order back with it", async () => {
    const storage = await sqliteStorage(path);
    const engine = engineOn(storage);
    await engine.ready();
    const host = new Sqlite(path);
    host.defaultSafeIntegers(true);
    host.exec("create table orders (id text primary key) strict");
    const place = host.transaction((id: string, run: string) => {
      host.prepare("insert into orders (id) values (?)").run(id);
      engine.start(runs, { id: run, input: { shop: "mitte" } }, { within: host });
    });
    place.immediate("o-1", "run-1");
    expect(() => place.immediate("o-2", "run-1")).toThrow(CommitRefused);
    expect(host.prepare("select id from orders").pluck().all()).toEqual(["o-1"]);
    engine.run();
    await engine.settled();
    expect(await engine.pending("run-1")).toMatchObject({ tasks: [] });
    await engine.stop();
    host.close();
    await storage.close();
  });

  test("F2: an engine that has not compared its charts yet says what to await", async () => {
    const storage = await sqliteStorage(path);
    const engine = engineOn(storage);
    const host = new Sqlite(path);
    const begin = host.transaction(() =>
      engine.start(runs, { id: "o-1", input: { shop: "mitte" } }, { within: host }),
    );
    expect(() => begin.immediate()).toThrow(/`await engine.ready\(\)` once/);
    host.close();
    await storage.close();
  });

  test("F2: the storage's own connection, a database in memory and a storage without hosts are refused", async () => {
    const host = new Sqlite(path);
    const inMemory = new Sqlite(":memory:");
    const withoutHosts: EngineStorage = { ...(await sqliteStorage(":memory:")) };
    Reflect.deleteProperty(withoutHosts, "within");
    const cases: readonly (readonly [EngineStorage, Sqlite.Database, RegExp])[] = [
      [await sqliteStorage(host), host, /works on this very connection/],
      [await sqliteStorage(":memory:"), inMemory, /a database in memory has one connection/],
      [withoutHosts, host, /this storage has no transactions of a host/],
    ];
    for (const [storage, given, reason] of cases) {
      const engine = engineOn(storage);
      await engine.ready();
      const begin = given.transaction(() =>
        engine.start(runs, { id: "o-1", input: { shop: "mitte" } }, { within: given }),
      );
      expect(() => begin.immediate()).toThrow(reason);
      await storage.close();
    }
    host.close();
    inMemory.close();
  });
});
