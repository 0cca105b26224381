/** Queries of a host in a commit: all or nothing with it, alone in their transaction, in the order of their items. */
import pg from "pg";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { postgresStorage } from "paystate/storage/postgres";
import type { AnyCommit, CommitAnswer, EngineStorage } from "../../storage/storage.ts";
import { startOf, stepOf, taskOf } from "../contracts/storage/samples.ts";
import { type HostConnection, type HostDatabase, hostDatabases } from "../engine/host-world.ts";
import { postgresProxy } from "../kit/postgres-proxy.ts";

const wordOf = (answer: CommitAnswer): string => (answer.ok ? "ok" : answer.conflict);

describe.each(hostDatabases)("queries in a commit on $name", ({ name, make }) => {
  const isServer = name === "PostgreSQL";
  let database: HostDatabase;
  let storage: EngineStorage;
  let host: HostConnection;
  let stock: string;

  beforeEach(async () => {
    database = await make();
    storage = await database.open();
    host = await database.connect();
    stock = `${database.orders}_stock`;
    const deferred = "deferrable initially deferred";
    await host.ask(
      `create table ${stock} (id text primary key, number integer not null check (number >= 0),
        of text references ${database.orders} (id) ${deferred})`,
    );
  });
  afterEach(async () => {
    await host.ask(`drop table ${stock}`);
    await storage.close();
    await database.destroy();
  });

  const place = (index: number): string => (isServer ? `$${index}` : "?");
  const order = (id: string) => ({
    sql: `insert into ${database.orders} (id) values (${place(1)})`,
    parameters: [id],
  });
  const take = (id: string, number: number, of: string | null = null) => ({
    sql: `insert into ${stock} (id, number, of) values (${place(1)}, ${place(2)}, ${place(3)})`,
    params: [id, number, of],
  });
  const orders = async (): Promise<unknown[]> => {
    const rows = await host.ask(`select id from ${database.orders} order by id`);
    return rows.map((row) => (row as { readonly id: string }).id);
  };
  const commit = async (...items: AnyCommit[]): Promise<CommitAnswer[]> => [...(await storage.commit(items))];

  test("F3: they are there with the commit, a second handle sees both, and parameters stay values", async () => {
    const odd = `o'1"; drop table x; --`;
    const queries = [order(odd), take("s", 3, odd)];
    expect(await commit({ starts: [startOf("a")], queries })).toEqual([{ ok: true }]);
    expect(await orders()).toEqual([odd]);
    expect(await storage.load("a")).toMatchObject({ id: "a" });
  });

  test("F3, G8: a unique violation refuses its own commit, and no other of the batch", async () => {
    const answers = await commit(
      { starts: [startOf("a")], queries: [order("o-1")] },
      { starts: [startOf("b")], queries: [order("o-2"), order("o-1")] },
      { starts: [startOf("c")] },
      { starts: [startOf("d")], queries: [order("o-3")] },
    );
    expect(answers.map(wordOf)).toEqual(["ok", "query", "ok", "ok"]);
    expect(answers[1]).toMatchObject({
      conflict: "query",
      refusal: { query: 1, kind: "unique", code: isServer ? "23505" : "SQLITE_CONSTRAINT_PRIMARYKEY" },
    });
    expect(answers[1]).toHaveProperty(
      "refusal.constraint",
      expect.stringContaining(isServer ? "_pkey" : ".id"),
    );
    expect(await orders()).toEqual(["o-1", "o-3"]);
    expect(await storage.load("b")).toBeNull();
    expect(await storage.load("c")).not.toBeNull();
  });

  test("F3: what the engine's own rows refuse is told, and no query happens", async () => {
    await commit({
      starts: [startOf("a")],
      arms: [{ task: taskOf("a:1:0", { instance: "a" }) }],
      queries: [order("o-1")],
    });
    const answers = await commit(
      { starts: [startOf("a")], queries: [order("o-1")] },
      { step: stepOf("a", 7), queries: [order("o-2")] },
      { consumes: { task: "a:1:0", token: 9 }, queries: [order("o-2")] },
    );
    expect(answers.map(wordOf)).toEqual(["exists", "step", "token"]);
    expect(await orders()).toEqual(["o-1"]);
  });

  test("F3: a check, a column that may not be null and a deferred foreign key refuse it, each by its kind", async () => {
    const refused = { sql: `insert into ${stock} (id) values ('s')`, parameters: [] };
    const answers = await commit(
      { starts: [startOf("a")], queries: [take("s", -1)] },
      { starts: [startOf("b")], queries: [refused] },
      { starts: [startOf("c")], queries: [take("s", 1, "nobody")] },
    );
    expect(answers).toMatchObject([
      { refusal: { kind: "check", query: 0 } },
      { refusal: { kind: "not_null", query: 0 } },
      { refusal: { kind: "foreign_key", query: null } },
    ]);
    for (const id of ["a", "b", "c"]) expect(await storage.load(id)).toBeNull();
    expect(await commit({ starts: [startOf("a")], queries: [take("s", 1)] })).toEqual([{ ok: true }]);
  });

  test("F3, G8: what is no single statement that writes fails alone and names what is right", async () => {
    const wrong = [
      "select 1",
      "begin",
      "COMMIT",
      "create table x (id text)",
      "",
      "-- nothing",
      "rollback; begin",
    ];
    for (const sql of wrong) {
      const [bad, good] = await commit(
        { starts: [startOf(`bad ${sql}`)], queries: [{ sql, parameters: [] }] },
        {},
      );
      expect(good).toEqual({ ok: true });
      expect(bad).toMatchObject({
        conflict: "failed",
        error: { message: /^queries\.0: expected one INSERT/ },
      });
    }
    for (const piece of [" ", "-", "\n", "--\n", "/**/", "/*", "- "]) {
      const sql = `${piece.repeat(10_000)}\n(select 1)`;
      expect(await commit({ queries: [{ sql, parameters: [] }] })).toMatchObject([
        { error: { message: /^queries\.0: expected one INSERT/ } },
      ]);
    }
    const two = `insert into ${database.orders} (id) values ('a'); insert into ${database.orders} (id) values ('b')`;
    const typo = { sql: `insert into ${database.orders}_typo (id) values ('a')`, parameters: [] };
    for (const query of [{ sql: two, parameters: [] }, typo, { sql: "update" } as never]) {
      const [bad] = await commit({ starts: [startOf("bad")], queries: [order("o"), query] });
      expect(bad).toMatchObject({ conflict: "failed", error: { message: /^queries\.1: / } });
    }
    expect(await orders()).toEqual([]);
    expect(await storage.load("bad")).toBeNull();
  });

  test.runIf(!isServer)("F3: a conflict clause that ends the transaction leaves nothing behind", async () => {
    await commit({ queries: [order("o-1")] });
    const sql = `insert or rollback into ${database.orders} (id) values (?)`;
    const answers = await commit(
      { starts: [startOf("a")], queries: [order("o-2"), { sql, parameters: ["o-1"] }, order("o-3")] },
      { starts: [startOf("b")] },
    );
    expect(answers.map(wordOf)).toEqual(["query", "ok"]);
    expect(await orders()).toEqual(["o-1"]);
    expect(await storage.load("a")).toBeNull();
    const reads = { sql: "with x as (select 1) select * from x", parameters: [] };
    expect((await commit({ queries: [reads] }))[0]).toMatchObject({
      error: { message: /and not one that reads/ },
    });
  });

  test.runIf(isServer)(
    "F3: a serialization that comes again and again is a refusal, one that passes is none",
    async () => {
      await host.ask("begin");
      const busy = stock.replace("public.", "busy_");
      await host.ask(
        `create sequence ${stock}_tries; create function public.${busy}() returns trigger language plpgsql as $body$ begin
        if nextval('${stock}_tries') < new.number then raise exception using errcode = '40001', message = 'met'; end if;
        return new; end $body$;
       create trigger busy before insert on ${stock} for each row execute function public.${busy}();`,
      );
      await host.ask("commit");
      expect(await commit({ starts: [startOf("a")], queries: [take("s", 4)] })).toEqual([{ ok: true }]);
      expect(await commit({ starts: [startOf("b")], queries: [take("t", 1_000)] })).toMatchObject([
        { conflict: "query", refusal: { kind: "serialization", code: "40001" } },
      ]);
      expect(await storage.load("b")).toBeNull();
      await host.ask(`drop sequence ${stock}_tries; drop function public.${busy}() cascade`);
    },
  );

  test.runIf(isServer).for([
    ["with a parameter too few", { sql: "$O (id) values ($1 || $2)", parameters: ["a"] }, /requires 2/],
    ["with a bigint in a document", { sql: "$O (id) values ($1)", parameters: [{ cents: 10n }] }, /BigInt/],
    ["with a NUL in its text", { sql: "$O (id) values ('a\0b')", parameters: [] }, /in message/],
    [
      "with 65,536 parameters",
      {
        sql: `$O (id) values ${Array.from({ length: 65_536 }, (_, at) => `($${at + 1})`).join(",")}`,
        parameters: Array.from({ length: 65_536 }, String),
      },
      /bind message/,
    ],
    [
      "that ends its own connection",
      { sql: "$O (id) select pg_terminate_backend(pg_backend_pid())::text", parameters: [] },
      /terminating connection/,
    ],
  ] as const)(
    "F3, G8: a query %s fails alone and at once, and its neighbours are carried out",
    async ([, { sql, parameters }, says]) => {
      const query = { sql: sql.replace("$O", `insert into ${database.orders}`), parameters };
      const answers = await commit(
        { starts: [startOf("a")], queries: [order("o-1"), query] },
        { starts: [startOf("b")] },
        { starts: [startOf("c")], queries: [order("o-2")] },
      );
      expect(answers.map(wordOf)).toEqual(["failed", "ok", "ok"]);
      expect(answers[0]).toHaveProperty("error.message", expect.stringMatching(/^queries\.1: /));
      expect(answers[0]).toHaveProperty("error.message", expect.stringMatching(says));
      expect(await orders()).toEqual(["o-2"]);
      expect(await storage.load("a")).toBeNull();
    },
  );

  test.runIf(isServer).for(["08006", "57P01", "57014", "55P03", "25006", "PS001", "PS002", "PS003", "PS004"])(
    "F3, G8: a trigger that raises %s says nothing of the server: its commit fails alone",
    async (code) => {
      const raising = stock.replace("public.", "raising_");
      await host.ask(
        `create function public.${raising}() returns trigger language plpgsql as
          $body$ begin raise exception using errcode = '${code}', message = 'raised'; end $body$;
         create trigger raising before insert on ${stock} for each row execute function public.${raising}();`,
      );
      const answers = await commit(
        { starts: [startOf("a")], queries: [take("s", 1)] },
        { starts: [startOf("b")] },
      );
      expect(answers).toMatchObject([
        { conflict: "failed", error: { name: "QueryFailed", message: "queries.0: raised" } },
        { ok: true },
      ]);
      await host.ask(`drop function public.${raising}() cascade`);
    },
  );

  test.runIf(isServer)("F3: what a query sets for its session is there for no other commit", async () => {
    const [url = "", schema = ""] = database.place;
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    const through = await postgresStorage(pool, { schema });
    onTestFinished(async () => {
      await through.close();
      await pool.end();
    });
    const insert = `insert into ${database.orders} (id)`;
    const sets = {
      sql: `${insert} select set_config('role', 'pg_monitor', false) || set_config('app.tenant', 'ada', false)`,
      parameters: [],
    };
    const locks = { sql: `${insert} select 'l' || pg_advisory_lock(4712)::text`, parameters: [] };
    const says = {
      sql: `${insert} values (current_user || coalesce(current_setting('app.tenant', true), '-'))`,
      parameters: [],
    };
    expect(await through.commit([{ queries: [sets] }, { queries: [locks] }])).toEqual([
      { ok: true },
      { ok: true },
    ]);
    expect(await through.commit([{ starts: [startOf("a")], queries: [says] }])).toEqual([{ ok: true }]);
    expect(await orders()).toEqual(expect.arrayContaining([expect.stringMatching(/^paystate-?$/)]));
    expect(await host.ask("select pg_try_advisory_lock(4712) as is_free")).toEqual([{ is_free: true }]);
  });

  test.runIf(isServer).for(["before", "after"] as const)(
    "F3, D12: a connection that goes %s the COMMIT: the answer is true, and the query happens once",
    async (moment) => {
      const [url = "", schema = ""] = database.place;
      const proxy = await postgresProxy(url);
      const through = await postgresStorage(proxy.url, { schema });
      onTestFinished(async () => {
        await through.close();
        await proxy.stop();
      });
      const anyone = { sql: `update ${stock} set number = number + 1`, parameters: [] };
      await commit({ queries: [take("s", 0)] });
      proxy.plan({ text: "commit\u0000", moment });
      expect(await through.commit([{ starts: [startOf("a")], queries: [anyone] }])).toEqual([{ ok: true }]);
      expect(proxy.happened()).toBe(1);
      expect(await host.ask(`select number from ${stock}`)).toEqual([{ number: 1 }]);
      expect(await storage.load("a")).not.toBeNull();
    },
  );
});
