/** The indexes of a caller's table follow its description: built beside all work where the database can, and guarded all the time. */
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defineTable } from "paystate/engine";
import { type PostgresStorage, postgresStorage } from "../../storage/postgres.ts";
import { standings } from "../../storage/sql/install-statements.ts";
import { postgresSchema } from "../../storage/sql/dialect.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { AnyWrite, EngineStorage } from "../../storage/storage.ts";
import { HAS_PGBOUNCER, startPgbouncer } from "../kit/pgbouncer.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { refusal } from "./refusal.ts";
import { eachInFolder } from "../kit/each-in-folder.ts";
import { eventually } from "../kit/eventually.ts";

const columns = { id: "text", shop: "text?", at: "integer", bill: "integer" } as const;

const first = defineTable("visits", {
  columns,
  unique: ["bill"],
  indexes: { ofShop: ["shop", "at"], inTime: ["at"], rest: ["id"] },
});

/** One index in another order, one gone, one new. */
const next = defineTable("visits", {
  columns,
  unique: ["bill"],
  indexes: { ofShop: ["at", "shop"], inTime: ["at"], ofBill: ["bill", "at"] },
  migrations: [{ beside: true }],
});

/** A column more, and an index over it. */
const last = defineTable("visits", {
  columns: { ...columns, note: "text" },
  unique: ["bill"],
  indexes: { ofShop: ["at", "shop"], inTime: ["at"], ofNote: ["note"] },
  migrations: [{ beside: true }, { add: { note: "" } }],
});

const visit = (id: string, bill: number): AnyWrite => ({
  table: "visits",
  insert: { id, shop: null, at: 1, bill },
});

async function isTaken(storage: EngineStorage, write: AnyWrite): Promise<boolean> {
  const [answer] = await storage.commit([{ writes: [write] }]);
  return answer?.ok === true;
}

/** Without the digests at their ends, in which only a change shows. */
const plain = (names: readonly string[]): string[] =>
  names.map((name) => name.replace(/_[0-9a-f]{8}$/, "")).toSorted();

const AFTER = ["visits_by_inTime", "visits_by_ofBill", "visits_by_ofShop", "visits_unique_bill"];

describe("on SQLite", () => {
  let path: string;
  eachInFolder((made) => {
    path = join(made, "visits.db");
  });

  const indexes = (): Record<string, string> => {
    const database = new Database(path);
    const rows = database
      .prepare(
        "select name, sql from sqlite_master where type = 'index' and tbl_name = 'visits' and sql is not null",
      )
      .all() as { readonly name: string; readonly sql: string }[];
    database.close();
    return Object.fromEntries(rows.map(({ name, sql }) => [name, sql]));
  };

  test("D41: an index whose order changed is made anew, those that stay are left, and a program of before changes nothing back", async () => {
    const storage = await sqliteStorage(path);
    await storage.install([first]);
    const before = Object.keys(indexes());
    await storage.install([next]);
    const after = indexes();
    expect(plain(Object.keys(after))).toEqual(AFTER);
    expect(Object.values(after).filter((text) => text.includes(`("at", "shop")`))).toHaveLength(1);
    const kept = Object.keys(after).filter((name) => before.includes(name));
    expect(plain(kept)).toEqual(["visits_by_inTime", "visits_unique_bill"]);
    await storage.install([first]);
    expect(indexes()).toEqual(after);
    expect(await isTaken(storage, visit("a", 1))).toBe(true);
    await storage.close();
  });
});

describe.runIf(HAS_POSTGRES)("on PostgreSQL", () => {
  const schema = `changed_indexes_${process.pid}`;
  let url: string;
  let admin: pg.Pool;
  const opened: PostgresStorage[] = [];

  beforeAll(async () => {
    url = await postgresUrl();
    admin = new pg.Pool({ connectionString: url, max: 3, options: `-c search_path=${schema}` });
  });
  beforeEach(() => admin.query(`drop schema if exists ${schema} cascade`));
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
  });
  afterAll(async () => {
    await admin.query(`drop schema ${schema} cascade`);
    await admin.end();
  });

  async function open(): Promise<PostgresStorage> {
    const storage = await postgresStorage(url, { schema, clock: "caller", connections: 3 });
    opened.push(storage);
    return storage;
  }

  async function indexes(condition = "true"): Promise<Record<string, string>> {
    const { rows } = await admin.query<{ name: string; text: string }>(
      `select c.relname as name, pg_get_indexdef(c.oid) as text from pg_index i join pg_class c on c.oid = i.indexrelid
        where i.indrelid = 'visits'::regclass and c.relname like 'visits%' and ${condition}`,
    );
    return Object.fromEntries(rows.map(({ name, text }) => [name, text]));
  }

  /** Resolves when the indexes are these and no others. */
  const built = (names: readonly string[]): Promise<void> =>
    eventually(async () => {
      expect(plain(Object.keys(await indexes("indisvalid")))).toEqual(names);
      expect(await indexes("not indisvalid")).toEqual({});
    });

  /** A transaction that has written the table: a build waits for its end, and inserts do not wait for the build. */
  const holding = (act: () => Promise<void>): Promise<void> =>
    beside("begin; insert into visits values ('held', null, 0, -1)", act);

  /** A transaction of somebody else, such as a dump of other schemas: a build waits for its end, too. */
  const dumping = (act: () => Promise<void>): Promise<void> =>
    beside("begin isolation level repeatable read; select 1 from pg_class limit 1", act);

  async function beside(transaction: string, act: () => Promise<void>): Promise<void> {
    const client = await admin.connect();
    await client.query(transaction);
    try {
      await act();
    } finally {
      await client.query("rollback");
      client.release();
    }
  }

  const builders = async (): Promise<readonly number[]> => {
    const { rows } = await admin.query<{ pid: number }>(
      "select pid from pg_stat_progress_create_index where relid = 'visits'::regclass and index_relid > 0",
    );
    return rows.map(({ pid }) => pid);
  };

  const underWay = (): Promise<number> =>
    eventually(async () => {
      const [pid] = await builders();
      if (pid === undefined) throw new Error("nothing is being built");
      return pid;
    });

  test("D41: an index whose order changed is built beside the work of others, and the old one goes when it is valid", async () => {
    const old = await open();
    await old.install([first]);
    const before = await indexes();
    const storage = await open();
    await holding(async () => {
      await storage.install([next]);
      await underWay();
      expect(await isTaken(storage, visit("a", 1))).toBe(true);
      expect(await isTaken(old, visit("b", 2))).toBe(true);
      const ofShop = Object.keys(before).find((name) => name.includes("ofShop"));
      expect(Object.keys(await indexes("indisvalid"))).toContain(ofShop);
    });
    await built(AFTER);
    const after = await indexes("indisvalid");
    expect(Object.values(after).filter((text) => text.includes("(at, shop NULLS FIRST, seq)"))).toHaveLength(
      1,
    );
    await holding(async () => {
      await old.install([first]);
      // Its first look, if it takes one, is over by then.
      for (let read = 0; read < 3; read += 1) await old.find({ table: first });
      expect(await builders()).toEqual([]);
    });
    expect(await indexes()).toEqual(after);
  });

  test("D41: an index whose build was killed is dropped and built again", async () => {
    await (await open()).install([first]);
    const storage = await open();
    await holding(async () => {
      await storage.install([next]);
      await admin.query("select pg_terminate_backend($1)", [await underWay()]);
      await eventually(async () => expect(Object.keys(await indexes("not indisvalid"))).toHaveLength(1));
    });
    await built(AFTER);
  });

  test("D41: of two processes one builds, and the other goes on where that one is closed", async () => {
    await (await open()).install([first]);
    const [one, other] = [await open(), await open()];
    await holding(async () => {
      await one.install([next]);
      await underWay();
      await other.install([next]);
      for (let read = 0; read < 3; read += 1) await other.find({ table: next });
      expect(await builders()).toHaveLength(1);
      await one.close();
      opened.splice(opened.indexOf(one), 1);
      expect(await builders(), "the server goes on with it").toHaveLength(1);
    });
    await built(AFTER);
  });

  test("D41: a migration ends a build that waits for another transaction, and waits for neither", async () => {
    const old = await open();
    await old.install([first]);
    const storage = await open();
    await dumping(async () => {
      await old.install([next]);
      await underWay();
      await storage.install([last]);
      expect(
        await isTaken(storage, {
          table: "visits",
          insert: { id: "a", shop: null, at: 1, bill: 1, note: "x" },
        }),
      ).toBe(true);
    });
    await built(["visits_by_inTime", "visits_by_ofNote", "visits_by_ofShop", "visits_unique_bill"]);
  });

  describe("where the role has limits of its own", () => {
    const role = `hasty_${process.pid}`;
    const limits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];

    beforeAll(async () => {
      await admin.query(`create role ${role} login superuser`);
      for (const limit of limits) await admin.query(`alter role ${role} set ${limit} to '200ms'`);
    });
    afterAll(() => admin.query(`drop owned by ${role} cascade; drop role ${role}`));

    const hasty = (of: string): string => of.replace("paystate@", `${role}@`);

    test("D41: a build takes as long as it takes, beside a pool of one connection", async () => {
      const at = `${hasty(url)}?statement_timeout=300`;
      const storage = await postgresStorage(at, { schema, clock: "caller", connections: 1 });
      opened.push(storage);
      await storage.install([first]);
      await holding(async () => {
        await storage.install([next]);
        const pid = await underWay();
        await eventually(async () => {
          const { rows } = await admin.query(
            "select 1 from pg_stat_activity where pid = $1 and query_start < clock_timestamp() - interval '1 s'",
            [pid],
          );
          expect(rows).toHaveLength(1);
        });
        expect(await isTaken(storage, visit("a", 1))).toBe(true);
      });
      await built(AFTER);
    });

    test.runIf(HAS_PGBOUNCER)(
      "D41: behind a pooler that takes no settings a build has the limits of the role, and goes on",
      async () => {
        const pooler = await startPgbouncer(hasty(url));
        const storage = await postgresStorage(pooler.url, {
          schema,
          clock: "caller",
          connections: 3,
          listen: false,
        });
        await storage.install([first]);
        await storage.install([next]);
        await eventually(async () => expect(plain(Object.keys(await indexes("indisvalid")))).toEqual(AFTER));
        await storage.close();
        await pooler.stop();
      },
    );
  });

  test("D41: a unique rule is guarded at every moment, whether it is new or its index is made anew", async () => {
    const storage = await open();
    await storage.install([first]);
    const [made = ""] = Object.keys(await indexes("indisunique"));
    await admin.query(`alter index "${made}" rename to visits_unique_bill`);
    expect(await isTaken(storage, visit("a", 1))).toBe(true);
    const again = await open();
    await holding(async () => {
      await again.install([first]);
      await underWay();
      expect(await isTaken(again, visit("b", 1))).toBe(false);
      expect(Object.keys(await indexes("indisunique and indisvalid"))).toEqual(["visits_unique_bill"]);
    });
    await eventually(async () => expect(Object.keys(await indexes("indisunique"))).toEqual([made]));
    const more = defineTable("visits", {
      columns,
      unique: ["bill", "at"],
      indexes: { ofShop: ["shop", "at"], inTime: ["at"], rest: ["id"] },
      migrations: [{}],
    });
    await again.install([more]);
    expect(plain(Object.keys(await indexes("indisunique and indisvalid")))).toEqual([
      "visits_unique_at",
      "visits_unique_bill",
    ]);
    expect(await isTaken(again, visit("c", 3)), "the same time").toBe(false);
    expect((await refusal(again.install([next]))).code).toBe("other_table");
  });
});

test("L9: the indexes cannot be read: told by one error, and none beside it ends the process", async () => {
  const stray: unknown[] = [];
  const onStray = (reason: unknown): void => void stray.push(reason);
  process.on("unhandledRejection", onStray);
  const gone = async (): Promise<never> => {
    throw new Error("the server is gone");
  };
  await expect(standings(gone, [first], postgresSchema)).rejects.toThrow("the server is gone");
  await new Promise(setImmediate);
  process.off("unhandledRejection", onStray);
  expect(stray).toEqual([]);
});
