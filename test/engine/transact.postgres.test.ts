/** Effects that work in a transaction of PostgreSQL: their rows and their end are there together, or neither is. */
// modules: host-sql

import pg, { type PoolClient } from "pg";
import { describe, expect, test as plainTest } from "vitest";
import { createEngine, type Engine, InvalidOptions } from "paystate/engine";
import type { EngineStorage } from "paystate/storage";
import { sqliteStorage } from "paystate/storage/sqlite";
import { postgresStorage } from "paystate/storage/postgres";
import { silentLogger } from "../../src/core/runtime.ts";
import { postgresTest } from "../kit/postgres-test.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { type Move, movesIn, transfersThat } from "./transfers.ts";

interface Made {
  readonly engine: Engine<unknown>;
  readonly clock: VirtualClock;
  /** Starts these, and waits until all that is due is done. */
  transfer(...ids: readonly string[]): Promise<void>;
  valueOf(id: string): Promise<unknown>;
  /** The failures and the last error of the one task of an instance. */
  taskOf(id: string): Promise<{ readonly failures: number; readonly lastError: string | null } | undefined>;
}

const test = postgresTest
  .extend("table", async ({ database }, { onCleanup }) => {
    const name = `public.moves_of_${database.schema}`;
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query(
      `create table ${name} (transfer text); create table ${name}_sum (number integer); insert into ${name}_sum values (0)`,
    );
    onCleanup(async () => {
      await client.query(`drop table ${name}, ${name}_sum`);
      await client.end();
    });
    const ask = async (sql: string): Promise<Record<string, unknown>[]> =>
      (await client.query<Record<string, unknown>>(sql)).rows;
    const moves = async (): Promise<unknown[]> =>
      (await ask(`select transfer from ${name} order by transfer`)).map(({ transfer }) => transfer);
    return { name, ask, moves };
  })
  .extend("made", async ({ database }, { onCleanup }) => {
    const undo: (() => Promise<void>)[] = [];
    onCleanup(async () => {
      for (const each of undo.toReversed()) await each();
    });
    return async (move: Move, storage?: EngineStorage): Promise<Made> => {
      const own = storage ?? (await database.open());
      const clock = virtualClock();
      const transfers = transfersThat(move);
      const engine = createEngine({ storage: own, workflows: [transfers], clock, logger: silentLogger });
      undo.push(async () => {
        await engine.stop();
        await own.close();
      });
      engine.run();
      return {
        engine,
        clock,
        async transfer(...ids) {
          for (const id of ids) await engine.start(transfers, { id, input: undefined });
          await engine.settled();
        },
        valueOf: async (id) => (await engine.read(transfers, id))?.value,
        taskOf: async (id) => (await own.tasks({ order: "instance", instance: id, limit: 1 }))[0],
      };
    };
  })
  .extend("bank", ({ table, made, database, proxy }) => ({
    ...table,
    made,
    database,
    proxy,
    through: (place: string | pg.Pool, transactConnections = 10) =>
      postgresStorage(place, { schema: database.schema, clock: "caller", transactConnections }),
  }));

/** What a handler brings back that has moved. */
const MOVED = { event: { type: "MOVED", run: 1 } } as const;

/** The move into the table, and how often it has run. */
function countedMove(into: string) {
  const counted = { runs: 0 };
  const move = movesIn(into);
  const transact: typeof move = (...given) => {
    counted.runs += 1;
    return move(...given);
  };
  return Object.assign(counted, { transact });
}

describe.skipIf(!HAS_POSTGRES)("transactions of handlers on PostgreSQL", () => {
  test("F4: a handler that throws leaves nothing, and is tried again", async ({ bank }) => {
    const move = movesIn(bank.name);
    const { transfer, valueOf, clock, engine, taskOf } = await bank.made({
      async transact(params, client, run) {
        const outcome = await move(params, client, run);
        if (run.failures === 0) throw new Error("not yet");
        return outcome;
      },
    });
    await transfer("a");
    expect(await bank.moves()).toEqual([]);
    expect(await taskOf("a")).toMatchObject({ failures: 1, lastError: "not yet" });
    clock.advance(1_200);
    await engine.settled();
    expect(await bank.moves()).toEqual(["a"]);
    expect(await valueOf("a")).toBe("moved");
  });

  test.for([
    ["before", 2],
    ["after", 1],
  ] as const)(
    "F4: a connection that goes %s the COMMIT: the rows are there once, after %i runs",
    async ([moment, times], { bank }) => {
      const storage = await bank.through(bank.proxy.url);
      const counted = countedMove(bank.name);
      const { transfer, valueOf } = await bank.made(counted, storage);
      bank.proxy.plan({ text: ";commit\u0000", moment });
      await transfer("a");
      expect(bank.proxy.happened()).toBe(1);
      expect(await bank.moves()).toEqual(["a"]);
      expect(await valueOf("a")).toBe("moved");
      expect(counted.runs).toBe(times);
    },
  );

  test("F4: what meets other transactions runs again, also where a library wraps the server's error", async ({
    bank,
  }) => {
    let runs = 0;
    const move = movesIn(bank.name);
    const { transfer, taskOf } = await bank.made({
      async transact(...given) {
        runs += 1;
        const outcome = await move(...given);
        if (runs > 2) return outcome;
        const code = runs === 1 ? "40001" : "40P01";
        const sql = `do $x$ begin raise exception 'met' using errcode = '${code}'; end $x$`;
        await given[1].query(sql).catch((cause: unknown) => {
          throw runs === 1 ? cause : new Error("the query failed", { cause });
        });
        return undefined;
      },
    });
    await transfer("a");
    expect(runs).toBe(3);
    expect(await bank.moves()).toEqual(["a"]);
    expect(await taskOf("a")).toBeUndefined();
  });

  test("F4: a handler that ends its transaction, or isolates it otherwise, is refused and told", async ({
    bank,
  }) => {
    for (const [sql, says] of [
      ["commit", /transact: COMMIT is the engine's/],
      ["/* mine */ rollback; begin", /transact: ROLLBACK is the engine's/],
      ["start transaction", /START TRANSACTION is the engine's/],
      ["select 1; commit", /it has ended the transaction itself/],
      ["set transaction isolation level serializable", /another isolation than read committed/],
    ] as const) {
      const { transfer, taskOf, engine } = await bank.made({
        async transact(_, client) {
          await client.query(sql);
          return MOVED;
        },
      });
      const id = `a ${sql}`;
      await transfer(id);
      expect((await taskOf(id))?.lastError).toMatch(says);
      expect(await engine.read(id)).toMatchObject({ value: "moving" });
      await engine.stop();
    }
  });

  test("F4: of branches of which one fails, what another sends later changes nothing", async ({ bank }) => {
    const storage = await bank.through(bank.database.url, 1);
    let goOn = (): void => {};
    const hasFailed = new Promise<void>((resolve) => (goOn = resolve));
    const late: Promise<unknown>[] = [];
    const { transfer, taskOf } = await bank.made(
      {
        async transact(_, client, { failures }) {
          const update = (): Promise<unknown> => client.query(`update ${bank.name}_sum set number = 7`);
          const lasting = client.query("select pg_sleep(0.02)").then(update);
          const later = hasFailed.then(update);
          late.push(later.catch((error: unknown) => error));
          lasting.catch(() => {});
          if (failures === 0) await Promise.all([Promise.reject(new Error("no")), lasting, later]);
          return undefined;
        },
      },
      storage,
    );
    await transfer("a");
    goOn();
    expect(String(await late[0])).toMatch(/^TypeError: transact: its handler has settled/);
    expect(await taskOf("a")).toMatchObject({ failures: 1, lastError: "no" });
    expect(await bank.ask(`select number from ${bank.name}_sum`)).toEqual([{ number: 0 }]);
  });

  test("F4: a connection that went away while its handler worked fails the task, which waits for its turn", async ({
    bank,
  }) => {
    let runs = 0;
    const { transfer, taskOf } = await bank.made({
      async transact(_, client: PoolClient) {
        runs += 1;
        const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
        const gone = new Promise<void>((resolve) => client.once("end", () => resolve()));
        await bank.ask(`select pg_terminate_backend(${rows[0]?.pid})`);
        await gone;
        return MOVED;
      },
    });
    await transfer("a");
    expect(runs).toBe(1);
    expect(await taskOf("a")).toMatchObject({
      failures: 1,
      lastError: "the connection to PostgreSQL went away before COMMIT",
    });
  });

  test("F4: what a handler sets for its session is there for no other, and not for the engine", async ({
    bank,
  }) => {
    const storage = await bank.through(bank.database.url, 1);
    const seen: unknown[] = [];
    const { transfer, valueOf } = await bank.made(
      {
        async transact(_, client, { instance }) {
          const { rows } = await client.query(
            "select current_user as role, current_setting('search_path') as path, current_setting('lock_timeout') as locks, " +
              "coalesce(current_setting('app.tenant', true), '') as tenant, pg_backend_pid() as pid",
          );
          seen.push(rows[0]);
          await client.query("set search_path to elsewhere; set lock_timeout to 1; set app.tenant to 'ada'");
          if (instance === "a") await client.query("select pg_advisory_lock(4711)");
          await client.query("set role pg_monitor");
          if (instance === "b") throw new Error("b fails");
          return MOVED;
        },
      },
      storage,
    );
    for (const id of ["a", "b", "c"]) await transfer(id);
    expect([await valueOf("a"), await valueOf("b"), await valueOf("c")]).toEqual([
      "moved",
      "moving",
      "moved",
    ]);
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map((each) => JSON.stringify(each)))).toHaveLength(1);
    expect(await bank.ask("select pg_try_advisory_lock(4711) as is_free")).toEqual([{ is_free: true }]);
  });

  test("D79: what a handler leaves in its session is there for no other: tables, statements, cursors, LISTEN", async ({
    bank,
  }) => {
    const storage = await bank.through(bank.database.url, 1);
    const pids = new Set<unknown>();
    const { transfer, valueOf, taskOf } = await bank.made(
      {
        async transact(_, client, { instance }) {
          const own = client as unknown as PoolClient;
          await own.query("create temporary table staging (id text)");
          await own.query("prepare staged as select * from staging");
          await own.query("declare held cursor with hold for select 1");
          const { rows } = await own.query("select pg_listening_channels() as channel");
          expect(rows).toEqual([]);
          await own.query("listen news");
          // A statement of the driver's, which it takes for prepared from then on.
          const asked = {
            name: "pid",
            text: "select pg_backend_pid() as pid, $1::text as given",
            values: [""],
          };
          pids.add((await own.query<{ pid: number }>(asked)).rows[0]?.pid);
          if (instance === "b") throw new Error("b fails");
          return MOVED;
        },
      },
      storage,
    );
    for (const id of ["a", "b", "c"]) await transfer(id);
    expect([await valueOf("a"), await taskOf("b"), await valueOf("c")]).toMatchObject([
      "moved",
      { lastError: "b fails" },
      "moved",
    ]);
    expect(pids.size).toBe(1);
  });

  test("F4: rows of a task that another holder has ended meanwhile are taken back", async ({ bank }) => {
    const storage = await bank.database.open();
    const move = movesIn(bank.name);
    const { transfer, valueOf, taskOf } = await bank.made({
      async transact(params, client, run) {
        const outcome = await move(params, client, run);
        await storage.commit([{ consumes: { task: run.key, token: 1 } }]);
        return outcome;
      },
    });
    await transfer("a");
    await storage.close();
    expect(await bank.moves()).toEqual([]);
    expect(await taskOf("a")).toBeUndefined();
    expect(await valueOf("a")).toBe("moving");
  });

  test("F4: an outcome that a transaction cannot have is named, and its rows are taken back", async ({
    bank,
  }) => {
    const move = movesIn(bank.name);
    const { transfer, taskOf } = await bank.made({
      async transact(...given) {
        await move(...given);
        return { queries: [] } as never;
      },
    });
    await transfer("a");
    expect((await taskOf("a"))?.lastError).toMatch(
      /outcome\.queries: a transaction has event, starts and writes/,
    );
    expect(await bank.moves()).toEqual([]);
  });
});

plainTest("F4: without PostgreSQL it is refused where the engine is made, with the way out", async () => {
  const transfers = transfersThat({ transact: movesIn("moves") });
  const storage = await sqliteStorage(":memory:");
  const make = (): unknown => createEngine({ storage, workflows: [transfers] });
  expect(make).toThrow(InvalidOptions);
  expect(make).toThrow(/storage: transfer@1 does move in a transaction, which postgresStorage\(\) has/);
});
