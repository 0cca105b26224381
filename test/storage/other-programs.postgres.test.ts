/** A program meets the database of a newer one: it works beside what allows it, and is refused by what does not. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { describe, expect, test as base } from "vitest";
import { defineTable } from "paystate/engine";
import { moveToPostgres } from "../../storage/move.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { backupSqlite, readOnlySqlite, sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { claim, ok, startOf, taskOf } from "../contracts/storage/samples.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { refusal } from "./refusal.ts";

/** A database, and what another program does in it. */
interface Place {
  readonly path: string;
  readonly open: () => Promise<EngineStorage>;
  readonly change: (text: string) => Promise<unknown>;
}

const places: Readonly<Record<string, (act: (place: Place) => Promise<void>) => Promise<void>>> = {
  async SQLite(act) {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    const path = join(folder, "shared.db");
    const change = async (text: string) => new Database(path).exec(text).close();
    await act({ path, open: () => sqliteStorage(path), change });
    await rm(folder, { recursive: true });
  },
  async PostgreSQL(act) {
    const url = await postgresUrl();
    const schema = `other_programs_${process.pid}`;
    const admin = new pg.Pool({ connectionString: url, max: 1, options: `-c search_path=${schema}` });
    await admin.query(`drop schema if exists ${schema} cascade`);
    await act({
      path: url,
      open: () => postgresStorage(url, { schema, clock: "caller" }),
      change: (text) => admin.query(text),
    });
    await admin.query(`drop schema ${schema} cascade`);
    await admin.end();
  },
};

/** What a newer program leaves in the row of the schema, and in a table that this one writes. */
const newer = (oldest: number): string =>
  `alter table "paystateTasks" add column tip text; update "paystateSchema" set version = 3, oldest = ${oldest}`;

describe.each(HAS_POSTGRES ? ["SQLite", "PostgreSQL"] : ["SQLite"])("on %s", (name) => {
  const test = base.extend<{ place: Place }>({
    place: async ({}, use) => await places[name]?.(use),
  });

  test("D39: a program works on beside a newer schema that allows it, and no other", async ({
    place: { open, change },
  }) => {
    await (await open()).close();
    await change(newer(1));
    const storage = await open();
    expect(await storage.commit([{ starts: [startOf("i")], arms: [{ task: taskOf("t") }] }])).toEqual([ok]);
    expect((await claim(storage, 10_000)).map(({ id }) => id)).toEqual(["t"]);
    await storage.close();
    await change(`update "paystateSchema" set oldest = 2`);
    const { code, message } = await refusal(open());
    expect([code, message]).toEqual([
      "newer_schema",
      "this database was written by a newer paystate (schema 3): upgrade paystate, or restore a backup from before",
    ]);
  });

  test("D39: beside a newer schema what this program needs is compared all the same", async ({
    place: { open, change },
  }) => {
    await (await open()).close();
    await change(`${newer(1)}; alter table "paystateHistory" rename column cause to reason`);
    const { code, message } = await refusal(open());
    expect([code, message]).toEqual([
      "old_schema",
      expect.stringContaining("the table paystateHistory lacks cause"),
    ]);
  });

  test("a schema from before the first release is refused with what to do, and left as it is", async ({
    place: { open, change },
  }) => {
    await (await open()).close();
    await change(`drop table "paystateSchema"; create table "paystateMigrations" (name text primary key)`);
    expect(await refusal(open())).toEqual({
      code: "old_schema",
      message:
        "this database was written by a paystate from before its first release, which cannot be read any more: " +
        "let that version finish its work, then give this one a new file or schema",
    });
    await change(`drop table "paystateMigrations"`);
  });

  test("a schema without its row is refused", async ({ place: { open, change } }) => {
    await (await open()).close();
    await change(`delete from "paystateSchema"`);
    const { code, message } = await refusal(open());
    expect([code, message]).toEqual([
      "old_schema",
      expect.stringContaining("the table paystateSchema is empty"),
    ]);
  });
});

const notes = { columns: { id: "text", at: "integer" }, unique: ["at"] } as const;
const tipped = { ...notes, columns: { ...notes.columns, tip: "text?" } } as const;
const before = defineTable("notes", notes);
const after = defineTable("notes", {
  ...tipped,
  indexes: { tipped: ["tip", "id"] },
  migrations: [{ add: { tip: null }, beside: true }],
});

describe.each(HAS_POSTGRES ? ["SQLite", "PostgreSQL"] : ["SQLite"])("a table on %s", (name) => {
  base("D39: a program of before uses it on beside migrations that allow it, and no other", async () => {
    await places[name]?.(async ({ open }) => {
      const [old, next] = [await open(), await open()];
      await old.install([before]);
      await next.install([after]);
      const again = await open();
      await again.install([before]);
      const adding = (id: string, at: number) => ({ writes: [{ table: "notes", insert: { id, at } }] });
      expect(await old.commit([adding("a", 1)])).toEqual([ok]);
      expect(await again.commit([adding("b", 1), adding("c", 2)])).toMatchObject([{ ok: false }, ok]);
      await next.install([after]);
      const found = await next.find({ table: after, index: "tipped" });
      expect(found).toEqual(["a", "c"].map((id, at) => ({ id, at: at + 1, tip: null })));
      const other = defineTable("notes", { columns: { ...notes.columns, tip: "integer?" } });
      expect((await refusal(again.install([other]))).code).toBe("newer_schema");
      const migrations = [{ add: { tip: null }, beside: true }, {}];
      await next.install([defineTable("notes", { ...tipped, migrations })]);
      for (const table of [before, after]) {
        expect((await refusal(again.install([table]))).code).toBe("newer_schema");
      }
      await Promise.all([old, next, again].map((each) => each.close()));
    });
  });
});

base(
  "D39: a file of a newer program is read and copied as it is, and moved by that program alone",
  async () => {
    await places["SQLite"]?.(async ({ path, open, change }) => {
      await (await open()).close();
      await change(newer(1));
      await (await readOnlySqlite(path)).close();
      await backupSqlite(path, `${path}.copy`);
      const moving = moveToPostgres({ from: path, to: "postgres://paystate@127.0.0.1:1/x" });
      expect((await refusal(moving)).code).toBe("newer_schema");
    });
  },
);
