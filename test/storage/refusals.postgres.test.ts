/** What PostgreSQL refuses, it refuses at the start, with a sentence that says what to do and shows no password. */
import { createServer } from "node:net";
import { inspect } from "node:util";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { paymentStorage } from "../../src/payments/payment-storage.ts";
import { commitOne } from "../../storage/decided.ts";
import { type PostgresPool, postgresStorage } from "../../storage/postgres.ts";
import { arm, claim, LEASE, limitedTo, ok, startOf, taskOf, WORKFLOW } from "../contracts/storage/samples.ts";
import { type PostgresDatabase, postgresDatabase } from "../kit/postgres-database.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { refusal } from "./refusal.ts";

/** The sentence for a URL that cannot be used; neither it nor its causes show the password. */
async function refused(url: string): Promise<{ readonly code: string; readonly message: string }> {
  const opening = postgresStorage(url);
  const error: unknown = await opening.catch((reason: unknown) => reason);
  expect(inspect(error, { depth: 9 })).not.toContain("hunter2");
  return refusal(opening);
}

test.each(["payments.db", "mysql://u:hunter2@h/db", "postgres://u:hunter2@[h/db", ""])(
  "%s is no URL of PostgreSQL",
  async (url) => {
    const { code, message } = await refused(url);
    expect([code, message]).toEqual([
      "not_a_database",
      "PostgreSQL takes a URL such as postgres://user@host:5432/database; for a file take sqliteStorage of paystate/storage/sqlite",
    ]);
  },
);

test("a server that nobody has started does not answer", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  expect(await refused(`postgres://u:hunter2@127.0.0.1:${port}/db`)).toEqual({
    code: "unavailable",
    message: "PostgreSQL does not answer: start it, or mend the host and port of the URL",
  });
});

test("a server that takes a connection and ends it in the same moment ends no process", async () => {
  // Authentication is over, it is ready, and an administrator ends it: one piece of the stream holds all three.
  const fatal = Buffer.from("SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0");
  const length = Buffer.alloc(4);
  length.writeInt32BE(fatal.length + 4);
  const ready = Buffer.from("5200000008000000005a0000000549", "hex");
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.concat([ready, Buffer.from("E"), length, fatal])));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  expect((await refused(`postgres://u@127.0.0.1:${port}/db`)).code).toBe("unavailable");
  await new Promise((resolve) => server.close(resolve));
});

test("a server older than 13 is refused before anything is made", async () => {
  const asked: string[] = [];
  const client = {
    async query({ text }: { readonly text: string }) {
      asked.push(text);
      return { rows: [{ number: 120_017, name: "12.17", encoding: "UTF8" }] };
    },
    on: () => {},
    release: () => {},
  };
  const old: PostgresPool = { options: {}, connect: async () => client, on: () => {}, end: async () => {} };
  expect(await refusal(postgresStorage(old))).toEqual({
    code: "server_too_old",
    message: "this server is PostgreSQL 12.17 and paystate needs 13 or newer: upgrade the server",
  });
  expect(asked.join()).not.toMatch(/create/);
});

test("a schema's name is one that needs no quotes", async () => {
  for (const schema of ["", "Pay", "pg_mine", 'a"; drop schema public; --', "x".repeat(49)]) {
    await expect(postgresStorage("postgres://h/db", { schema })).rejects.toThrow(/^schema must be/);
  }
});

describe.skipIf(!HAS_POSTGRES)("a server that answers", () => {
  let database: PostgresDatabase;
  let admin: pg.Pool;
  beforeAll(async () => {
    admin = new pg.Pool({ connectionString: await postgresUrl(), max: 1 });
  });
  afterAll(() => admin.end());
  beforeEach(async () => {
    database = await postgresDatabase();
  });
  afterEach(() => database.destroy());

  const urlWith = (change: (url: URL) => void): string => {
    const url = new URL(database.url);
    change(url);
    return url.href;
  };

  test("refuses a role that it does not know, and a database that is not there", async () => {
    const stranger = urlWith((url) => {
      url.username = "nobody";
      url.password = "hunter2";
    });
    expect((await refused(stranger)).code).toBe("access_denied");
    const { code, message } = await refused(urlWith((url) => (url.pathname = "/absent")));
    expect([code, message]).toEqual([
      "cannot_open",
      "the database of the URL does not exist: create it first",
    ]);
  });

  test("refuses a role without rights, and names what it lacks", async () => {
    await admin.query("drop role if exists poor; create role poor login");
    const { code, message } = await refusal(
      postgresStorage(
        urlWith((url) => (url.username = "poor")),
        { schema: "of_poor" },
      ),
    );
    expect([code, message]).toEqual([
      "no_rights",
      "the role lacks a right (permission denied for database postgres): make it the owner of the schema, or grant it CREATE on the database",
    ]);
    const { rows } = await admin.query("select 1 from pg_namespace where nspname = 'of_poor'");
    expect(rows).toEqual([]);
  });

  test.each([
    ["may not look into the schema", ""],
    ["may look at nothing in it", "grant usage on schema of_owner to poor"],
  ])("names the right of a role that %s", async (_, grant) => {
    await admin.query(
      "drop schema if exists of_owner cascade; drop role if exists poor; create role poor login",
    );
    await (await postgresStorage(database.url, { schema: "of_owner" })).close();
    await admin.query(grant);
    const url = urlWith((each) => (each.username = "poor"));
    for (const create of [true, false]) {
      const { code, message } = await refusal(postgresStorage(url, { schema: "of_owner", create }));
      expect([code, message]).toEqual([
        "no_rights",
        expect.stringMatching(
          /^the role lacks a right \(permission denied for (schema of_owner|table paystateSchema)\): make it the owner of the schema and of all that is in it$/,
        ),
      ]);
    }
    await admin.query("drop schema of_owner cascade");
  });

  test("refuses a role that may only read, unless it is to read alone, and a schema that is another's before it is filled", async () => {
    await admin.query(
      "drop schema if exists of_owner cascade; drop schema if exists unfilled cascade; drop role if exists poor; create role poor login",
    );
    await (await postgresStorage(database.url, { schema: "of_owner" })).close();
    await admin.query(
      "grant usage on schema of_owner to poor; grant select on all tables in schema of_owner to poor; create schema unfilled; grant usage on schema unfilled to poor",
    );
    const url = urlWith((each) => (each.username = "poor"));
    await expect(postgresStorage(url, { schema: "of_owner" })).rejects.toMatchObject({ code: "no_rights" });
    const reader = await postgresStorage(url, { schema: "of_owner", create: false });
    const { code, message } = await refusal(commitOne(reader, { starts: [startOf("i")] }));
    expect([code, message]).toEqual(["no_rights", expect.stringContaining("for table paystateWriters")]);
    expect(await reader.load("i")).toBeNull();
    await reader.close();
    expect(await refusal(postgresStorage(url, { schema: "unfilled" }))).toEqual({
      code: "no_rights",
      message: expect.stringContaining("permission denied for schema unfilled") as string,
    });
    const { rows } = await admin.query("select 1 from pg_tables where schemaname = 'unfilled'");
    expect(rows).toEqual([]);
    await admin.query("drop schema of_owner cascade; drop schema unfilled cascade");
  });

  test("refuses a database that cannot keep every text, or is closed to this role or to all", async () => {
    const clean = "drop database if exists latin; drop database if exists closed";
    for (const each of clean.split("; ")) await admin.query(each);
    await admin.query(
      "create database latin encoding 'LATIN1' template template0 lc_collate 'C' lc_ctype 'C'",
    );
    await admin.query("create database closed allow_connections false");
    await admin.query(
      "drop role if exists poor; create role poor login; revoke connect on database latin from public",
    );
    const latin = urlWith((each) => (each.pathname = "/latin"));
    const poor = new URL(latin);
    poor.username = "poor";
    expect(await refused(latin)).toEqual({
      code: "wrong_encoding",
      message:
        "this database keeps texts in LATIN1 and paystate needs UTF8: create one with encoding 'UTF8' template template0",
    });
    expect(await refused(poor.href)).toEqual({
      code: "no_rights",
      message:
        'the role lacks a right (permission denied for database "latin"): grant it CONNECT on the database',
    });
    expect(await refused(urlWith((each) => (each.pathname = "/closed")))).toEqual({
      code: "cannot_open",
      message: "the database of the URL is closed to connections: name another one, or have it opened",
    });
    for (const each of clean.split("; ")) await admin.query(each);
  });

  test("hints do not arrive where nothing answers on the URL to listen on: the self-test ends all the same", async () => {
    const storage = await database.open({ listen: "postgres://paystate@127.0.0.1:1/db" });
    expect(await storage.hintsArrive()).toBe(false);
    await storage.close();
  });

  test("D39: refuses a schema that lacks what this program uses, and leaves what else is there alone", async () => {
    const schema = "of_needs";
    const open = () => postgresStorage(database.url, { schema });
    await admin.query(`drop schema if exists ${schema} cascade`);
    await (await open()).close();
    await admin.query(
      `alter table ${schema}."paystateTasks" add note text; create table ${schema}.mine (id text); create index on ${schema}."paystateTasks" (name)`,
    );
    await (await open()).close();
    await admin.query(`alter table ${schema}."paystateHistory" drop constraint "paystateHistory_key"`);
    expect((await refusal(open())).message).toContain("nothing keeps instance and version unique");
    await admin.query(`alter table ${schema}."paystateTasks" drop admission`);
    expect(await refusal(open())).toEqual({
      code: "old_schema",
      message: expect.stringContaining("the table paystateTasks lacks admission") as string,
    });
    await admin.query(`drop schema ${schema} cascade`);
  });

  test("refuses to be written as a standby does", async () => {
    const url = urlWith((each) => each.searchParams.set("options", "-c default_transaction_read_only=on"));
    expect((await refusal(postgresStorage(url, { schema: "read_only" }))).code).toBe("replica");
  });

  test("leaves the schema of a newer paystate, and that of somebody else, alone", async () => {
    const schema = "of_newer";
    await admin.query(`drop schema if exists ${schema} cascade; drop schema if exists theirs cascade`);
    await (await postgresStorage(database.url, { schema })).close();
    await admin.query(`update ${schema}."paystateSchema" set version = 3, oldest = 2`);
    expect(await refusal(postgresStorage(database.url, { schema }))).toEqual({
      code: "newer_schema",
      message:
        "this database was written by a newer paystate (schema 3): upgrade paystate, or restore a backup from before",
    });
    await admin.query("create schema theirs; create table theirs.accounts (id text)");
    expect(await refusal(postgresStorage(database.url, { schema: "theirs" }))).toEqual({
      code: "foreign_database",
      message: "the schema theirs holds tables that are not paystate's: give paystate a schema of its own",
    });
    const { rows } = await admin.query("select tablename from pg_tables where schemaname = 'theirs'");
    expect(rows).toEqual([{ tablename: "accounts" }]);
  });

  test("keeps two services apart by their schemas", async () => {
    const another = await postgresDatabase();
    const [left, right] = [await database.open(), await another.open()];
    await left.commit([{ starts: [startOf("i")] }]);
    expect(await right.load("i")).toBeNull();
    expect(await right.commit([{ starts: [startOf("i")] }])).toEqual([ok]);
    await Promise.all([left.close(), right.close()]);
    await another.destroy();
  });

  test("keeps no text with a NUL: the commit fails with the reason, and half a character is mended as elsewhere", async () => {
    const storage = paymentStorage(await database.open());
    const fact = (id: string, value: string) =>
      commitOne(storage, { writes: [{ table: "facts", insert: { id, value } }] });
    await expect(fact("a", "x\u0000y")).rejects.toThrow("PostgreSQL keeps no text with a NUL character");
    await expect(commitOne(storage, { starts: [startOf("a\u0000")] })).rejects.toThrow("NUL");
    const asked = storage.history("a\u0000", { after: 0, limit: 1 });
    await expect(asked, "a read rejects, it does not throw").rejects.toThrow("NUL");
    const odd = storage.history("b\u0000", { after: 0, limit: 1 });
    const [odder, beside] = await Promise.allSettled([odd, storage.fact("none")]);
    expect([odder.status, beside.status], "reads of one message").toEqual(["rejected", "fulfilled"]);
    // modules: private
    expect(await storage.orders(["\ud83d", "a\u0000"]), "a NUL stands in no row").toEqual([]);
    const json = `$json$ \\u0000 \\ ' " $1 %s \ud83d`;
    expect(await fact("b", json)).toEqual(ok);
    expect(await storage.fact("b")).toBe(`${json.slice(0, -1)}\ufffd`);
    expect(await storage.load("a' or 'a' = 'a")).toBeNull();
    await storage.close();
  });

  test("a clock that is a minute off delays nothing and steals nothing: the database's clock judges", async () => {
    const [right, behind] = [
      await database.open({ clock: "database" }),
      await database.open({ clock: "database" }),
    ];
    const [at] = (await admin.query<{ now: string }>("select extract(epoch from now()) * 1000 as now")).rows;
    const now = Math.round(Number(at?.now));
    const slow = now - 60_000;
    const workflows = [WORKFLOW];
    const take = (storage: typeof right, time: number) =>
      storage.claim({
        holder: "h",
        now: time,
        leaseMs: LEASE * 60,
        workflows,
        steps: 9,
        free: 9,
        limited: 9,
        maxCrashes: 3,
      });
    // The first claim tells each how far its clock is off.
    for (const [storage, time] of [
      [right, now],
      [behind, slow],
    ] as const) {
      expect(await take(storage, time)).toEqual([]);
    }
    await behind.commit([
      {
        arms: [{ task: taskOf("due", { dueAt: slow }) }, { task: taskOf("later", { dueAt: slow + 30_000 }) }],
      },
    ]);
    const due = await behind.nextDue(workflows);
    expect(Math.abs((due ?? 0) - slow)).toBeLessThan(5_000);
    const claimed = await take(right, now);
    expect(claimed.map(({ id, dueAt }) => [id, dueAt])).toEqual([["due", slow]]);
    expect(await take(behind, slow), "its lease is as long for those who are behind").toEqual([]);
    await Promise.all([right.close(), behind.close()]);
  });

  test("D10: leases that were given while the caller's clock was an hour ahead end in their time", async () => {
    const storage = await database.open({ clock: "database" });
    const hour = 3_600_000;
    const [at] = (await admin.query<{ now: string }>("select extract(epoch from now()) * 1000 as now")).rows;
    const now = Math.round(Number(at?.now));
    const take = (time: number) =>
      storage.claim({
        holder: "h",
        now: time,
        leaseMs: 0,
        workflows: [WORKFLOW],
        steps: 9,
        free: 9,
        limited: 9,
        maxCrashes: 9,
      });
    await take(now + hour);
    await storage.commit([{ arms: [{ task: taskOf("t", { dueAt: now + hour }) }] }]);
    expect((await take(now + hour)).length, "a timer of its own time is due").toBe(1);
    expect(
      (await take(now)).length,
      "and the lease of no time has ended for one whose clock was set back",
    ).toBe(1);
    expect(await claim(paymentStorage(storage), now, { leaseMs: LEASE })).toHaveLength(1);
    await storage.close();
  });

  test("D26, D93: the database's own clock alone tells that it was set back, however old the time of a caller is", async () => {
    const hour = 3_600_000;
    const storage = await database.open({ clock: "database" });
    const [at] = (await admin.query<{ now: string }>("select extract(epoch from now()) * 1000 as now")).rows;
    const now = Math.round(Number(at?.now));
    const asked = { names: ["upkeep"], leaseMs: hour, highest: now };
    await storage.lease({ ...asked, holder: "h", now: () => now });
    await storage.commit([{ arms: [{ task: taskOf("t", { dueAt: now, delayMs: 0 }) }] }]);
    const [held] = await claim(paymentStorage(storage), now, { leaseMs: hour });
    const left = async () => ((await storage.nextDue([WORKFLOW])) ?? Infinity) - now;
    const [told] = await storage.lease({ ...asked, holder: "late", now: () => now - hour });
    expect([held?.id, told?.holder, told?.setBackMs]).toEqual(["t", "h", undefined]);
    expect(Math.abs((await left()) - hour)).toBeLessThan(30_000);
    await admin.query(
      `update ${database.schema}."paystateTasks" set "visibleAt" = "visibleAt" + ${hour};
       update ${database.schema}."paystateLeases" set until = until + ${hour}`,
    );
    const [moved] = await storage.lease({ ...asked, holder: "g", now: () => now });
    expect([moved?.holder, Math.abs((moved?.setBackMs ?? 0) - hour) < 30_000]).toEqual(["g", true]);
    expect(Math.abs((await left()) - hour)).toBeLessThan(30_000);
    await storage.close();
  });

  test.each([-3_600_000, 3_600_000])(
    "D35: what is armed, or given back, by a process whose clock was put by %i ms since its last claim, waits for its delay",
    async (put) => {
      const storage = paymentStorage(await database.open({ clock: "database" }));
      const [at] = (await admin.query<{ now: string }>("select extract(epoch from now()) * 1000 as now"))
        .rows;
      const now = Math.round(Number(at?.now));
      await claim(storage, now);
      const put1 = now + put;
      await arm(storage, taskOf("back", { dueAt: put1, delayMs: 0 }));
      await arm(storage, taskOf("minute", { dueAt: put1 + 60_000, delayMs: 60_000 }));
      const lease = { holder: "dead", until: put1 + LEASE, leaseMs: LEASE };
      const message = limitedTo("leased", "k", 1, { kind: "message", dueAt: put1, delayMs: 0 });
      await storage.commit([{ arms: [{ task: message, lease }] }]);
      await storage.commit([{ arms: [{ task: { ...message, id: "behind" }, lease }] }]);
      const [back, ...more] = await claim(storage, now);
      expect([back?.id, more]).toEqual(["back", []]);
      const pause = { dueAt: put1 + 30_000, delayMs: 30_000 };
      await storage.release({ id: "back", token: back?.token ?? 0, ...pause });
      const tasks = await storage.tasks({ order: "instance", instance: "i", limit: 9 });
      const waits = Object.fromEntries(tasks.map(({ id, visibleAt }) => [id, visibleAt - now]));
      for (const [id, ms] of Object.entries({ back: 30_000, behind: 0, leased: LEASE, minute: 60_000 })) {
        expect(Math.abs((waits[id] ?? Infinity) - ms), id).toBeLessThan(5_000);
      }
      await storage.close();
    },
  );
});
