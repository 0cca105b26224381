/** An SQLite database that moves into PostgreSQL: everything keeps its place, and file and target can never be used both. */
// modules: schedules
import { rm, writeFile } from "node:fs/promises";
import Database from "better-sqlite3";
import pg from "pg";
import { describe, expect, onTestFinished, vi } from "vitest";
import { HeldFile } from "../../storage/move/held-file.ts";
import { defineTable } from "../../storage/table.ts";
import { type MoveProgress, moveToPostgres } from "../../storage/move.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { limitedTo, range, startOf, stepOf, taskOf, WORKFLOW } from "../contracts/storage/samples.ts";
import { NAMESAKES } from "../kit/namesakes.ts";
import { moveTest } from "../kit/move-test.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { refusal } from "./refusal.ts";

/** One column of each kind, null and not. */
const things = defineTable("things", {
  columns: {
    id: "text",
    note: "text?",
    at: "integer",
    amount: "amount",
    paid: "amount?",
    isOpen: "boolean",
    raw: "bytes?",
    parts: "json?",
    owner: "text",
    version: "integer",
  },
  unique: ["at"],
  indexes: { ofOwner: ["owner"], open: { on: ["owner", "at"], where: { isOpen: true }, present: ["note"] } },
});

const LARGEST = 2n ** 64n - 1n;

const thing = (index: number) => ({
  id: `t${(index * 7919) % 1000}`,
  note: index % 3 === 0 ? null : `it's \\ "${index}" ü 漢 🦊 $json$ \n`,
  at: index,
  amount: LARGEST - BigInt(index),
  paid: index % 2 === 0 ? null : BigInt(index),
  isOpen: index % 2 === 0,
  raw: index % 5 === 0 ? null : Uint8Array.from([0, index % 256, 255]),
  parts: index % 4 === 0 ? null : { large: 2n ** 70n, list: [index] },
  owner: `o${index % 3}`,
  version: 1,
});

const claimOf = (storage: EngineStorage, now: number, holder = "h") =>
  storage.claim({
    holder,
    now,
    leaseMs: 1_000,
    workflows: [WORKFLOW],
    steps: 50,
    free: 50,
    limited: 50,
    maxCrashes: 5,
  });

/** Instances with history, tasks of every kind in every condition, watches, and rows. */
async function fill(storage: EngineStorage): Promise<void> {
  await storage.install([things]);
  const results = await storage.commit([
    { starts: range(300).map((index) => startOf(`i${index}`, { createdAt: index })) },
    ...range(40).map((index) => ({
      step: stepOf(`i${index}`, 1, { status: index < 5 ? "done" : "active" }),
    })),
    {
      history: range(700).map((index) => ({
        instance: `i${index % 7}`,
        version: 1 + Math.floor(index / 7),
        stamp: "s",
        at: index,
        event: "{}",
        value: `"é"`,
        cause: index % 3 === 0 ? null : `timer@${index}:0`,
      })),
    },
    ...range(600).map((index) => ({ writes: [{ table: "things", insert: thing(index) }] })),
    { arms: range(6).map((index) => ({ task: taskOf(`free${index}`, { dueAt: index }) })) },
    {
      arms: range(6).map((index) => ({
        task: limitedTo(`limited${index}`, index < 3 ? "narrow" : "wide", index < 3 ? 1 : 2),
      })),
    },
    {
      arms: range(3).map((index) => ({
        task: taskOf(`timer${index}`, { kind: "timer", name: `n${index}`, dueAt: 9_000 }),
      })),
    },
  ]);
  expect(results.filter((result) => !result.ok)).toEqual([]);
  // Held, failed, a suspect, and one that has seen five holders.
  for (const round of range(3)) await claimOf(storage, 100 + round * 3_000);
  const [first] = await claimOf(storage, 20_000);
  await storage.release({ id: first?.id ?? "", token: first?.token ?? 0, dueAt: 20_500, error: "no" });
  await storage.lease({ names: ["sweep"], holder: "h", now: () => 20_000, leaseMs: 1_000 });
}

/** What the port shows of a database. */
async function shownBy(storage: EngineStorage): Promise<unknown> {
  await storage.install([things]);
  const ids = [...range(12).map((index) => `i${index}`), "i"];
  return {
    rows: await storage.find({ table: things }),
    reversed: await storage.find({ table: things, order: "desc", limit: 50 }),
    open: await storage.find({ table: things, index: "ofOwner", equals: { owner: "o1" } }),
    total: await storage.tally({ table: things, sum: "amount" }),
    instances: await storage.list({ order: "newest", after: null, limit: 1_000 }),
    finished: await storage.list({ order: "ended", until: 10_000, after: null, limit: 100 }),
    histories: await Promise.all(ids.map((id) => storage.history(id, { after: 0, limit: 1_000 }))),
    pending: await Promise.all(
      ids.map((id) => storage.tasks({ order: "instance", instance: id, limit: 100 })),
    ),
    failing: await storage.tasks({ order: "failing", least: 1, limit: 100 }),
    dead: await storage.tasks({ order: "dead", limit: 100 }),
    due: await storage.nextDue([WORKFLOW]),
    earliest: await storage.tasks({ order: "workflow" }),
  };
}

const test = moveTest.extend("source", ({ move: { from } }) => {
  const filled = async (): Promise<EngineStorage> => {
    const storage = await sqliteStorage(from);
    await fill(storage);
    return storage;
  };
  /** What it showed before it was closed. */
  const closed = async (): Promise<unknown> => {
    const storage = await filled();
    const shown = await shownBy(storage);
    await storage.close();
    return shown;
  };
  return { filled, closed };
});

describe.skipIf(!HAS_POSTGRES)("a database that moves", () => {
  test("D10: all that the port shows is the same in the target, to the row, its order and its lease", async ({
    move,
    source,
    target,
  }) => {
    // The file of a host, which had a table in it before.
    new Database(move.from).exec(`create table clients (name); ${NAMESAKES}`).close();
    const before = await source.closed();
    const { tables, leftBehind, wasThere } = await moveToPostgres(move);
    expect(await shownBy(await target.open())).toEqual(before);
    expect([leftBehind, wasThere]).toEqual([["Tasks", "clients", "instances", "watches"], false]);
    const sum = range(600).reduce((total, index) => total + LARGEST - BigInt(index), 0n);
    const paid = range(300).reduce((total, index) => total + BigInt(index * 2 + 1), 0n);
    expect(tables.find(({ table }) => table === "things")).toEqual({
      table: "things",
      rows: 600,
      sums: { amount: sum, paid },
    });
    expect(tables.find(({ table }) => table === "paystateHistory")).toMatchObject({ rows: 700, sums: {} });
  });

  test("L8: how far a move is can be followed, from page to page and to its end", async ({
    move,
    source,
  }) => {
    await source.closed();
    const told: MoveProgress[] = [];
    const { tables } = await moveToPostgres({ ...move, onProgress: (progress) => told.push(progress) });
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    expect(told.at(-1)).toEqual({ sentRows: rows, readBackRows: rows, rows });
    const done = told.map(({ sentRows, readBackRows }) => sentRows + readBackRows);
    expect(done).toEqual(done.toSorted((one, other) => one - other));
    expect(new Set(done).size).toBeGreaterThan(tables.filter((table) => table.rows > 0).length);
  });

  test("G4: tokens go on growing, a result from before is refused, and rows that come now stand behind all", async ({
    move,
    source,
    target,
  }) => {
    const storage = await source.filled();
    const held = await claimOf(storage, 50_000, "old");
    expect(held.length).toBeGreaterThan(0);
    await storage.close();
    await moveToPostgres(move);
    const moved = await target.open();
    await moved.install([things]);
    const tokens = new Map(held.map(({ id, token }) => [id, token]));
    const seen = new Set<string>();
    for (let now = 60_000; now < 90_000; now += 2_000) {
      for (const task of await claimOf(moved, now, "new")) {
        expect(task.token).toBeGreaterThan(tokens.get(task.id) ?? 0);
        const late = { task: task.id, token: tokens.get(task.id) ?? 0 };
        expect(await moved.commit([{ consumes: late }])).toEqual([{ ok: false, conflict: "token" }]);
        seen.add(task.id);
        expect(await moved.commit([{ consumes: { task: task.id, token: task.token } }])).toEqual([
          { ok: true },
        ]);
      }
    }
    for (const id of tokens.keys()) expect(seen).toContain(id);
    await moved.commit([{ writes: [{ table: "things", insert: { ...thing(600), id: "new" } }] }]);
    const rows = await moved.find({ table: things });
    expect(rows.at(-1)?.id).toBe("new");
    expect(rows).toHaveLength(601);
  });

  test("a file that is moved is refused by every storage, with the place of its data, and the same move is over", async ({
    move,
    source,
  }) => {
    await source.closed();
    await moveToPostgres({ ...move, to: move.to.replace("paystate@", "paystate:hunter2@") });
    const { code, message } = await refusal(sqliteStorage(move.from));
    expect(code).toBe("moved");
    expect(message).toContain(
      `was moved to postgres://127.0.0.1:${new URL(move.to).port}/postgres, schema ${move.schema}`,
    );
    expect(message).not.toContain("hunter2");
    const handle = new Database(move.from);
    expect((await refusal(sqliteStorage(handle))).code).toBe("moved");
    handle.close();
    expect(await moveToPostgres(move)).toMatchObject({ wasThere: true, tables: [] });
    const elsewhere = await refusal(moveToPostgres({ ...move, schema: `${move.schema}_b` }));
    expect([elsewhere.code, elsewhere.message]).toEqual(["moved", expect.stringContaining("is old by now")]);
  });

  test("a target that lost what it had is not filled from the old file", async ({ move, source, target }) => {
    await source.closed();
    await moveToPostgres(move);
    await target.asked(`drop schema "${move.schema}" cascade`);
    const { code, message } = await refusal(moveToPostgres(move));
    expect([code, message]).toEqual(["moved", expect.stringContaining("restore a backup of that database")]);
    expect(await target.tables()).toEqual([]);
  });

  test.for(["an idle connection", "a reader", "a writer"])(
    "%s keeps the file from being moved",
    async (what, { move, source, target }) => {
      await source.closed();
      const other = new Database(move.from);
      other.prepare("select count(*) from paystateInstances").get();
      if (what === "a reader") other.exec("begin; select * from paystateInstances");
      if (what === "a writer") other.exec("begin immediate");
      const { code, message } = await refusal(moveToPostgres(move));
      expect([code, message]).toEqual(["in_use", expect.stringContaining(`a process has ${move.from} open`)]);
      expect(await target.tables()).toEqual([]);
      other.close();
      expect((await moveToPostgres(move)).wasThere).toBe(false);
    },
  );

  test("what begins while the file is moved is refused, also to read", async ({ move, source, proxy }) => {
    await source.closed();
    proxy.plan({ text: "analyze", moment: "silent" });
    const moving = moveToPostgres({ ...move, to: proxy.url }).catch((error: unknown) => error);
    while (proxy.happened() === 0) await new Promise((resolve) => setImmediate(resolve));
    const other = new Database(move.from, { timeout: 0 });
    expect(() => other.prepare("select count(*) from paystateInstances").get()).toThrow("database is locked");
    other.close();
    await proxy.stop();
    expect(await moving).toBeInstanceOf(Error);
    await (await sqliteStorage(move.from)).close();
  });

  test("a target with tables of any kind is not touched", async ({ move, source, target }) => {
    await source.closed();
    await target.asked(`create schema "${move.schema}"; create table "${move.schema}".mine (id int)`);
    const { code, message } = await refusal(moveToPostgres(move));
    expect([code, message]).toEqual([
      "target_exists",
      expect.stringContaining(`the schema ${move.schema} of this database has tables`),
    ]);
    expect(await target.tables()).toHaveLength(1);
    await (await sqliteStorage(move.from)).close();
  });

  test("files that are none, of others, of another version or absent are refused, and so is what is no server", async ({
    move,
    source,
  }) => {
    const code = async (moved: Promise<unknown>) => (await refusal(moved)).code;
    expect(await code(moveToPostgres(move))).toBe("cannot_open");
    await writeFile(move.from, "");
    expect(await code(moveToPostgres(move))).toBe("foreign_database");
    await writeFile(
      move.from,
      "not a database at all, but a text that is long enough for a header of one hundred bytes, or so it says",
    );
    expect(await code(moveToPostgres(move))).toBe("not_a_database");
    await rm(move.from);
    await source.closed();
    const database = new Database(move.from);
    database.exec("update paystateSchema set version = 3");
    database.close();
    expect(await code(moveToPostgres(move))).toBe("newer_schema");
    const again = new Database(move.from);
    again.exec("update paystateSchema set version = 1");
    again.close();
    expect(await code(moveToPostgres({ from: move.from, to: move.from }))).toBe("not_a_database");
    expect(await code(moveToPostgres({ ...move, to: "postgres://paystate@127.0.0.1:1/x" }))).toBe(
      "unavailable",
    );
    await (await sqliteStorage(move.from)).close();
  });

  test("D1: a COMMIT that never arrived leaves the file as it was, and one whose answer was lost is found out", async ({
    move,
    source,
    target,
    proxy,
  }) => {
    const before = await source.closed();
    proxy.plan({ text: "commit\0", moment: "before" });
    await expect(moveToPostgres({ ...move, to: proxy.url })).rejects.toThrow(
      "the connection to PostgreSQL was lost",
    );
    expect([proxy.happened(), await target.tables()]).toEqual([1, []]);
    const storage = await sqliteStorage(move.from);
    expect(await shownBy(storage)).toEqual(before);
    await storage.close();
    proxy.plan({ text: "commit\0", moment: "after" });
    const { tables } = await moveToPostgres({ ...move, to: proxy.url });
    expect([proxy.happened(), tables.length > 5]).toEqual([2, true]);
    expect((await refusal(sqliteStorage(move.from))).code).toBe("moved");
    expect(await shownBy(await target.open())).toEqual(before);
  });

  test("a file that cannot be marked is said to be so, and stays as it was beside an empty target", async ({
    move,
    source,
    target,
  }) => {
    const before = await source.closed();
    const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    const marking = vi.spyOn(HeldFile.prototype, "setMark").mockImplementation(() => {
      throw full;
    });
    onTestFinished(() => marking.mockRestore());
    await expect(moveToPostgres(move)).rejects.toMatchObject({ cause: full });
    expect(await target.tables()).toEqual([]);
    const storage = await sqliteStorage(move.from);
    expect(await shownBy(storage)).toEqual(before);
    await storage.close();
  });

  test("a move that died between the mark and the commit leaves neither to be used, until it is run again", async ({
    move,
    source,
    target,
  }) => {
    const before = await source.closed();
    // As the process left it: the mark is durable, and the target has taken its transaction back.
    const database = new Database(move.from);
    const place = `postgres://127.0.0.1:${new URL(move.to).port}/postgres, schema ${move.schema}`;
    database.exec(`
      create table paystateMoves (id integer primary key, "copy" text not null, place text not null, state text not null) strict;
      insert into paystateMoves values (1, 'lost', '${place}', 'moving')`);
    database.close();
    const refused = await refusal(sqliteStorage(move.from));
    expect([refused.code, refused.message]).toEqual([
      "moved",
      expect.stringContaining("run the same `paystate migrate` again"),
    ]);
    const elsewhere = await refusal(moveToPostgres({ ...move, schema: `${move.schema}_b` }));
    expect([elsewhere.code, elsewhere.message]).toEqual([
      "moved",
      expect.stringContaining("name the same target again"),
    ]);
    expect((await moveToPostgres(move)).wasThere).toBe(false);
    expect(await shownBy(await target.open())).toEqual(before);
  });

  test("a row that is not read back as it lies in the file takes all of it back", async ({
    move,
    source,
    target,
  }) => {
    const { schema } = move;
    await source.closed();
    const spoiling = new pg.Client({ connectionString: move.to });
    await spoiling.connect();
    // A rule of the target's that changes what it is given.
    await spoiling.query(`create or replace function public.spoil_${schema}() returns event_trigger language plpgsql as $$
      declare each record; begin
        for each in select * from pg_event_trigger_ddl_commands() where object_identity = '${schema}.things' loop
          execute 'create function ${schema}.spoil() returns trigger language plpgsql as ''begin new.amount := new.amount - 1; return new; end''';
          execute 'create trigger spoil before insert on ${schema}.things for each row execute function ${schema}.spoil()';
        end loop;
      end $$;
      create event trigger spoil_${schema} on ddl_command_end when tag in ('CREATE TABLE') execute function public.spoil_${schema}()`);
    try {
      const { code, message } = await refusal(moveToPostgres(move));
      expect([code, message]).toEqual(["copy_differs", expect.stringContaining("things: the row 1 ")]);
    } finally {
      await spoiling.query(`drop event trigger spoil_${schema}; drop function public.spoil_${schema}`);
      await spoiling.end();
    }
    expect(await target.tables()).toEqual([]);
    await (await sqliteStorage(move.from)).close();
  });

  test("a name in the file is a name in the target whatever it says, and no part of it is carried out", async ({
    move,
  }) => {
    const stranger = `stranger_of_${move.schema}`;
    const command = `commit; drop table ${stranger}; commit; begin`;
    const columns = `id text primary key, "note"") select 'a', 'b' where false; ${command}; --" text`;
    const storage = await sqliteStorage(move.from);
    await storage.install([defineTable("odd", { key: "id", columns: { id: "text", note: "text" } })]);
    await storage.close();
    const file = new Database(move.from);
    file.exec(`drop table odd; create table odd (${columns}); insert into odd values ('1', '2')`);
    file.close();
    const client = new pg.Client(move.to);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`create table ${stranger} (id text)`);
    await expect(moveToPostgres(move)).rejects.toThrow("does not exist");
    await client.query(`drop table ${stranger}`);
  });
});
