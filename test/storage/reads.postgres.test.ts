/** Reads of one turn on PostgreSQL: one that fails or lasts is its caller's own affair. */
import pg from "pg";
import { describe, expect, test as unitTest } from "vitest";
import { defineTable } from "paystate/engine";
import { Database } from "../../storage/postgres/database.ts";
import type { PostgresClient, PostgresQuery } from "../../storage/postgres/driver.ts";
import { HostPool } from "../../storage/postgres/host-pool.ts";
import type { PostgresStorage } from "../../storage/postgres.ts";
import { namedRead, statement } from "../../storage/sql/statement.ts";
import { startOf } from "../contracts/storage/samples.ts";
import { postgresTest } from "../kit/postgres-test.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

const visits = defineTable("visits", {
  columns: { id: "text", shop: "text" },
  indexes: { ofShop: ["shop"] },
});

/** `storage` has an instance and a visit; `admin` is somebody else's session in the same schema. */
const test = postgresTest
  .extend("storage", async ({ database }, { onCleanup }): Promise<PostgresStorage> => {
    const storage = await database.open();
    onCleanup(() => storage.close());
    await storage.install([visits]);
    await storage.commit([
      { starts: [startOf("i")], writes: [{ table: "visits", insert: { id: "v", shop: "mitte" } }] },
    ]);
    return storage;
  })
  .extend("admin", async ({ database }, { onCleanup }) => {
    const client = new pg.Client({
      connectionString: database.url,
      options: `-c search_path=${database.schema}`,
    });
    await client.connect();
    onCleanup(() => client.end());
    return client;
  });

describe.skipIf(!HAS_POSTGRES)("reads on PostgreSQL", () => {
  test("D65: a read that the server refuses fails alone, whatever was asked for beside it", async ({
    storage,
    admin,
  }) => {
    await admin.query(`alter table visits rename column id to name`);
    const asked = [
      storage.load("i"),
      storage.find({ table: visits, key: "v" }),
      storage.history("i", { after: 0, limit: 9 }),
      storage.list({ order: "newest", after: null, limit: -1 }),
      storage.find({ table: visits, index: "ofShop", equals: { shop: "mitte" } }),
      storage.tasks({ order: "instance", instance: "i", limit: 9 }),
      storage.nextDue(["sample@1"]),
    ];
    const ends = await Promise.allSettled(asked);
    expect(ends.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    expect(await asked[0]).toMatchObject({ id: "i" });
    await admin.query(`alter table visits rename column name to id`);
  });

  test("D65: a list, a search and a total that wait hold up no read of one row, and no commit", async ({
    storage,
    admin,
  }) => {
    await admin.query("begin; lock table visits in access exclusive mode");
    const slow = Array.from({ length: 12 }, () => [
      storage.find({ table: visits }),
      storage.find({ table: visits, index: "ofShop", equals: { shop: "mitte" } }),
      storage.tally({ table: visits }),
    ]).flat();
    expect(await storage.load("i"), "asked for in the same turn").toMatchObject({ id: "i" });
    expect(await storage.commit([{ starts: [startOf("j")] }])).toMatchObject([{ ok: true }]);
    await admin.query("rollback");
    expect(await Promise.all(slow)).toHaveLength(36);
  });
});

/** Texts as they are sent, each message with what it asks for; one that asks for `bad` is refused. */
function messages() {
  const sent: string[][] = [];
  const at = { once: 0, most: 0 };
  const client: PostgresClient = {
    async query({ text }: PostgresQuery) {
      const asked: readonly string[] = text.match(/'\w+'/g) ?? [];
      if (asked.length === 0) return [];
      sent.push(asked.map((each) => each.slice(1, -1)));
      at.once += 1;
      at.most = Math.max(at.most, at.once);
      await new Promise(setImmediate);
      at.once -= 1;
      if (asked.includes("'bad'")) throw Object.assign(new Error("division by zero"), { code: "22012" });
      const rows = asked.map((each) => ({ rows: [{ answer: each.slice(1, -1) }] }));
      return [{ rows: [{ server: null, follows: false }] }, ...rows];
    },
    on: () => {},
    release: () => {},
  };
  const pool = { options: { max: 4 }, connect: async () => client, on: () => {}, end: async () => {} };
  const limits = { schema: "s", statementTimeoutMs: 1_000, lockTimeoutMs: 1_000 };
  return { sent, at, database: new Database(new HostPool([pool]), limits) };
}

interface Answer {
  readonly answer: string;
}

const row = namedRead<{ id: string }, Answer>("select {id} as answer");
const rows = statement<{ id: string }, Answer>("select {id} as answer");

unitTest(
  "D65: reads that were asked for without awaiting see one state, also where a stranger's fails",
  async () => {
    const { sent, database } = messages();
    const own = Promise.all([database.read(row, { id: "a" }), database.read(row, { id: "b" })]);
    await Promise.resolve();
    const others = ["bad", "c"].map((id) => database.read(row, { id }));
    expect(await own).toEqual([[{ answer: "a" }], [{ answer: "b" }]]);
    expect(await Promise.allSettled(others)).toMatchObject([
      { reason: { message: "division by zero" } },
      { value: [{ answer: "c" }] },
    ]);
    expect(sent).toEqual([["a", "b", "bad", "c"], ["a", "b"], ["bad", "c"], ["bad"], ["c"]]);
  },
);

unitTest(
  "D65: a read of any number of rows has a message to itself, and half of the connections at most",
  async () => {
    const { sent, at, database } = messages();
    const all = ["a", "b", "bad", "c"].map((id) => database.read(rows, { id }));
    expect(await Promise.allSettled(all)).toMatchObject([
      { value: [{ answer: "a" }] },
      { value: [{ answer: "b" }] },
      { status: "rejected" },
      { value: [{ answer: "c" }] },
    ]);
    expect([sent, at.most]).toEqual([[["a"], ["b"], ["bad"], ["c"]], 2]);
  },
);
