/** Totals of groups, where something else than the storage changes rows: the database counts whoever writes. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { describe, expect, test as base } from "vitest";
import { defineTable } from "paystate/engine";
import { postgresStorage } from "../../storage/postgres.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";

/** A database, and what another program does in it. */
interface Place {
  readonly open: () => Promise<EngineStorage>;
  readonly change: (...texts: readonly string[]) => Promise<unknown>;
}

const places: Readonly<Record<string, (act: (place: Place) => Promise<void>) => Promise<void>>> = {
  async SQLite(act) {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    const path = join(folder, "shared.db");
    const change = async (...texts: readonly string[]) => new Database(path).exec(texts.join(";")).close();
    await act({ open: () => sqliteStorage(path), change });
    await rm(folder, { recursive: true });
  },
  async PostgreSQL(act) {
    const url = await postgresUrl();
    const schema = `group_totals_${process.pid}`;
    const admin = new pg.Pool({ connectionString: url, max: 1, options: `-c search_path=${schema}` });
    // Another program need not know the schema.
    const stranger = new pg.Pool({ connectionString: url, max: 1 });
    const inSchema = (text: string) => text.replace(/(into|update|from) loans/, `$1 ${schema}.loans`);
    await admin.query(`drop schema if exists ${schema} cascade`);
    await act({
      open: () => postgresStorage(url, { schema, clock: "caller" }),
      async change(...texts) {
        for (const text of texts) {
          await (/ loans /.test(text) ? stranger.query(inSchema(text)) : admin.query(text));
        }
      },
    });
    await admin.query(`drop schema ${schema} cascade`);
    await Promise.all([admin.end(), stranger.end()]);
  },
};

const columns = { id: "text", by: "text", kind: "text", amount: "amount", endedAt: "integer?" } as const;
const indexes = { ofBorrower: ["by", "endedAt"], ofKind: ["kind", "endedAt"] } as const;

const loans = defineTable("loans", {
  columns,
  indexes,
  group: { by: ["by"], open: "endedAt", sum: "amount" },
});

const ofAnn = {
  table: loans,
  index: "ofBorrower",
  equals: { by: "ann", endedAt: null },
  sum: "amount",
} as const;

async function lend(storage: EngineStorage, id: string, amount: bigint, atMost = 1_000n): Promise<boolean> {
  const insert = { id, by: "ann", kind: "short", amount, endedAt: null };
  const [answer] = await storage.commit([
    { writes: [{ table: "loans", insert, atMost: { total: atMost } }] },
  ]);
  return answer?.ok === true;
}

const insertion = (id: string, amount: number): string =>
  `insert into loans (id, by, kind, amount, "endedAt") values ('${id}', 'ann', 'short', '${amount}', null)`;

describe.each(HAS_POSTGRES ? ["SQLite", "PostgreSQL"] : ["SQLite"])("on %s", (name) => {
  const test = base.extend<{ place: Place }>({
    place: async ({}, use) => await places[name]?.(use),
  });

  test("L4: rows that another program writes, changes and removes count at once", async ({ place }) => {
    const storage = await place.open();
    await storage.install([loans]);
    expect(await lend(storage, "a", 600n)).toBe(true);
    await place.change(insertion("b", 300), insertion("c", 50));
    expect(await storage.tally(ofAnn)).toEqual({ count: 3, total: 950n });
    expect(await lend(storage, "d", 51n)).toBe(false);
    await place.change(`update loans set "endedAt" = 5 where id = 'a'`, `delete from loans where id = 'c'`);
    // Ended a second time it gives no room back.
    await place.change(`update loans set "endedAt" = 6 where id = 'a'`);
    expect(await storage.tally(ofAnn)).toEqual({ count: 1, total: 300n });
    expect(await lend(storage, "d", 700n)).toBe(true);
    expect(await lend(storage, "e", 1n)).toBe(false);
    await storage.close();
  });

  test("L4: a table whose group is another is counted anew, by the new one alone", async ({ place }) => {
    const before = await place.open();
    await before.install([loans]);
    expect(await lend(before, "a", 600n)).toBe(true);
    await before.close();
    const byKind = defineTable("loans", {
      columns,
      indexes,
      group: { by: ["kind"], open: "endedAt", sum: "amount" },
    });
    const storage = await place.open();
    await storage.install([byKind]);
    const ofKind = { index: "ofKind", equals: { kind: "short", endedAt: null }, sum: "amount" } as const;
    expect(await storage.tally({ table: byKind, ...ofKind })).toEqual({ count: 1, total: 600n });
    expect(await lend(storage, "b", 401n)).toBe(false);
    expect(await lend(storage, "b", 400n)).toBe(true);
    await storage.close();
  });

  test("L4: a total below nothing takes no row, and a recount mends it", async ({ place }) => {
    const storage = await place.open();
    await storage.install([loans]);
    expect(await lend(storage, "a", 600n)).toBe(true);
    await place.change(`update "paystateTotals" set low = -5`);
    expect(await lend(storage, "b", 1n)).toBe(false);
    expect(await storage.tally({ ...ofAnn, recount: true })).toEqual({ count: 1, total: 600n });
    expect(await lend(storage, "b", 401n)).toBe(false);
    expect(await lend(storage, "b", 400n)).toBe(true);
    await storage.close();
  });
});

base.runIf(HAS_POSTGRES)(
  "L4: a schema that was renamed keeps totals of its own, and those of its new namesake stay what they are",
  async () => {
    const url = await postgresUrl();
    const [schema, renamed] = [`group_renamed_${process.pid}`, `group_old_${process.pid}`];
    const admin = new pg.Pool({ connectionString: url, max: 1 });
    const open = async (name: string): Promise<EngineStorage> => {
      const storage = await postgresStorage(url, { schema: name });
      await storage.install([loans]);
      return storage;
    };
    await admin.query(`drop schema if exists ${schema} cascade; drop schema if exists ${renamed} cascade`);
    const first = await open(schema);
    expect(await lend(first, "a", 600n)).toBe(true);
    await first.close();
    await admin.query(`alter schema ${schema} rename to ${renamed}`);
    const [namesake, old] = [await open(schema), await open(renamed)];
    expect(await lend(old, "b", 300n)).toBe(true);
    expect(await old.tally(ofAnn)).toEqual({ count: 2, total: 900n });
    expect(await namesake.tally(ofAnn)).toEqual({ count: 0, total: 0n });
    expect(await lend(old, "c", 101n)).toBe(false);
    for (const each of [namesake, old]) await each.close();
    await admin.query(`drop schema ${schema} cascade; drop schema ${renamed} cascade`);
    await admin.end();
  },
);
