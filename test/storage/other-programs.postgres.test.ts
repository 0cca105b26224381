/** A program meets the database of a newer one: it works beside what allows it, and is refused by what does not. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { describe, expect, test as base } from "vitest";
import { defineTable } from "paystate/engine";
import { moveToPostgres, postgresStorage } from "../../storage/postgres.ts";
import { plainName, prefixedName, withNames } from "../../storage/sql/statement.ts";
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
    const change = async (text: string) => new Database(path).exec(withNames(text, prefixedName)).close();
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
      change: (text) => admin.query(withNames(text, plainName)),
    });
    await admin.query(`drop schema ${schema} cascade`);
    await admin.end();
  },
};

/** What a newer program leaves in the list of migrations, and in a table that this one writes. */
const newer = (name: string): string =>
  `alter table {@tasks} add column tip text; insert into "paystateMigrations" values ('${name}', 'now')`;

describe.each(HAS_POSTGRES ? ["SQLite", "PostgreSQL"] : ["SQLite"])("on %s", (name) => {
  const test = base.extend<{ place: Place }>({
    place: async ({}, use) => await places[name]?.(use),
  });

  test("D39: a program works on beside a newer migration that names this one or an older one", async ({
    place: { open, change },
  }) => {
    await (await open()).close();
    await change(newer("9998-tips-beside-0004"));
    const storage = await open();
    expect(await storage.commit([{ starts: [startOf("i")], arms: [{ task: taskOf("t") }] }])).toEqual([ok]);
    expect((await claim(storage, 10_000)).map(({ id }) => id)).toEqual(["t"]);
    await storage.close();
    await change(`insert into "paystateMigrations" values ('9999-later-beside-9998', 'now')`);
    const { code, message } = await refusal(open());
    expect([code, message]).toEqual([
      "newer_schema",
      "this database was written by a newer paystate (9999-later-beside-9998): upgrade paystate, or restore a backup from before",
    ]);
  });

  test("D39: beside a newer migration what this program needs is compared all the same", async ({
    place: { open, change },
  }) => {
    await (await open()).close();
    await change(`${newer("9998-tips-beside-0004")}; alter table {@history} rename column cause to reason`);
    const { code, message } = await refusal(open());
    expect([code, message]).toEqual([
      "old_schema",
      expect.stringMatching(/the table (h|paystateH)istory lacks cause/),
    ]);
  });

  test("D39: a program that is behind applies nothing beside a newer migration", async ({
    place: { open, change },
  }) => {
    await (await open()).close();
    await change(
      `${newer("9998-tips-beside-0004")}; delete from "paystateMigrations" where name like '0004%'`,
    );
    expect((await refusal(open())).code).toBe("newer_schema");
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
      await change(newer("9998-tips-beside-0004"));
      await (await readOnlySqlite(path)).close();
      await backupSqlite(path, `${path}.copy`);
      const moving = moveToPostgres({ from: path, to: "postgres://paystate@127.0.0.1:1/x" });
      expect((await refusal(moving)).code).toBe("newer_schema");
    });
  },
);
