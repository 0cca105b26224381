/** Databases that released versions have written go on: migrated at opening, with all that waits in them. */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Kysely, PostgresDialect, sql, SqliteDialect } from "kysely";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { createEngine } from "paystate/engine";
import { silentLogger } from "../../src/runtime.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { engine as firstSchema } from "../../storage/sql/migrations/0001-engine.ts";
import { postgresSchema, sqliteSchema } from "../../storage/sql/migrations/dialect.ts";
import { plainName, withNames } from "../../storage/sql/statement.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { orders } from "./released/charts.ts";

type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

const rows = JSON.parse(
  readFileSync(join(import.meta.dirname, "released", "0001-engine.json"), "utf8"),
) as Rows;

/** The tables of the first version, with what it has left in them. */
async function fill(db: Kysely<unknown>, dialect: typeof sqliteSchema): Promise<void> {
  for (const text of firstSchema(dialect)) await sql.raw(withNames(text, plainName)).execute(db);
  await sql`create table ${sql.table("paystateMigrations")}
    (name varchar(255) primary key, ${sql.ref("timestamp")} varchar(255) not null)`.execute(db);
  await sql`insert into ${sql.table("paystateMigrations")} values ('0001-engine', '2026-01-01')`.execute(db);
  for (const [table, written] of Object.entries(rows)) {
    for (const row of written) {
      await (db as Kysely<Record<string, Record<string, unknown>>>).insertInto(table).values(row).execute();
    }
  }
}

interface Released {
  readonly name: string;
  readonly run: (act: (storage: EngineStorage) => Promise<void>) => Promise<void>;
}

const sqlite: Released = {
  name: "SQLite",
  async run(act) {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    const path = join(folder, "old.db");
    const database = new Database(path);
    await fill(new Kysely({ dialect: new SqliteDialect({ database }) }), sqliteSchema);
    database.close();
    const storage = await sqliteStorage(path);
    await act(storage);
    await storage.close();
    await rm(folder, { recursive: true });
  },
};

const postgres: Released = {
  name: "PostgreSQL",
  async run(act) {
    const connectionString = await postgresUrl();
    const schema = `released_${process.pid}`;
    const pool = new pg.Pool({ connectionString, max: 3, options: `-c search_path=${schema}` });
    await pool.query(`drop schema if exists ${schema} cascade; create schema ${schema}`);
    await fill(new Kysely({ dialect: new PostgresDialect({ pool }) }), postgresSchema);
    const storage = await postgresStorage(pool, { schema, clock: "caller", listen: false });
    await act(storage);
    await storage.close();
    await pool.query(`drop schema ${schema} cascade`);
    await pool.end();
  },
};

describe.each([sqlite, ...(HAS_POSTGRES ? [postgres] : [])])("on $name", ({ run }) => {
  test("D28: instances, timers, effects, watches and children of a database from before stamps go on", () =>
    run(async (storage) => {
      const clock = virtualClock();
      const done: string[] = [];
      const unit = orders((key, to) => done.push(`${to} under ${key}`));
      const seen: string[] = [];
      const poll = async (watches: readonly { readonly instance: string; readonly life: string }[]) => {
        seen.push(...watches.map(({ instance, life }) => `${instance} ${life}`));
        return [];
      };
      const watchers = { ledger: { intervalMs: 1_000, poll } };
      const engine = createEngine({ storage, clock, logger: silentLogger, workflows: [unit], watchers });
      expect(await engine.removeInstance("shipped")).toBe("pending");
      engine.run();
      await engine.settled();
      expect(done.toSorted()).toEqual(["ada under waits:2:0", "bob under waits:3:0"]);
      const { life = "" } = (await engine.read("waits")) ?? {};
      expect(life).toMatch(/^[0-9a-f]{16}$/);
      expect((await engine.history("waits")).map(({ stamp }) => stamp)).toEqual([
        life,
        `${life}.2`,
        `${life}.3`,
      ]);
      expect(new Set(seen)).toEqual(new Set([`waits ${life}`]));
      for (const id of ["stopped", "shipped"]) {
        expect(await engine.read(`${id}/errand`)).toMatchObject({ status: "stopped" });
        expect(await engine.removeInstance(id)).toBe("removed");
      }
      await engine.send(unit, "waits", { type: "PAY", by: "eve" });
      await engine.settled();
      expect(done).toHaveLength(3);
      clock.advance(60_000);
      await engine.settled();
      expect(await engine.read("waits")).toMatchObject({
        value: "expired",
        steps: 5,
        context: { paid: ["ada", "bob", "eve"] },
      });
      await engine.stop();
    }));
});
