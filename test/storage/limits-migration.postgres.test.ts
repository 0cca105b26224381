/** A database whose tasks stand in lanes goes on with limits: nothing is lost, and nothing passes its room. */
import Database from "better-sqlite3";
import { Kysely, PostgresDialect, sql, SqliteDialect } from "kysely";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { postgresStorage } from "../../storage/postgres.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { engine } from "../../storage/sql/migrations/0001-engine.ts";
import { plainName, withNames } from "../../storage/sql/statement.ts";
import { postgresSchema, type SchemaDialect, sqliteSchema } from "../../storage/sql/migrations/dialect.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { range, WORKFLOW } from "../contracts/storage/samples.ts";

const LEASE_MS = 1_000;

/** The tables of the first schema, with tasks as they lay in lanes: of one webhook two are in hand and four wait. */
async function writeFirstSchema(db: Kysely<unknown>, dialect: SchemaDialect): Promise<void> {
  await db.schema
    .createTable("paystateMigrations")
    .addColumn("name", "varchar(255)", (column) => column.notNull().primaryKey())
    .addColumn("timestamp", "varchar(255)", (column) => column.notNull())
    .execute();
  for (const text of engine(dialect)) await sql.raw(withNames(text, plainName)).execute(db);
  const old = db as Kysely<Record<string, Record<string, unknown>>>;
  await old.insertInto("paystateMigrations").values({ name: "0001-engine", timestamp: "1" }).execute();
  const task = {
    instance: "i",
    workflow: WORKFLOW,
    name: "attempt",
    payload: "{}",
    dueAt: 0,
    crashes: 0,
    failures: 0,
  };
  const rows = range(6).map((index) => ({
    ...task,
    id: `t${index}`,
    kind: "effect",
    lane: "webhook",
    cap: 2,
    laneGroup: "account",
    visibleAt: index < 2 ? LEASE_MS : 0,
    holder: index < 2 ? "old" : null,
    token: index < 2 ? 1 : 0,
  }));
  const plain = { ...task, id: "timer", kind: "timer", visibleAt: 5_000, dueAt: 5_000, token: 0 };
  for (const row of [...rows, plain]) await old.insertInto("tasks").values(row).execute();
  const lane = { lane: "webhook", workflow: WORKFLOW, cap: 2, laneGroup: "account", nextAt: LEASE_MS };
  await old.insertInto("lanes").values(lane).execute();
  await old.insertInto("narrowedLanes").values({ lane: "webhook", cap: 1 }).execute();
}

const claimOf = (storage: EngineStorage, now: number) =>
  storage.claim({
    holder: "new",
    now,
    leaseMs: LEASE_MS,
    workflows: [WORKFLOW],
    steps: 9,
    free: 9,
    limited: 9,
    maxCrashes: 5,
  });

/** What was in hand ends, what waited is done two at a time. */
async function expectLimits(storage: EngineStorage): Promise<void> {
  expect(await claimOf(storage, 10)).toEqual([]);
  const [answer] = await storage.commit([{ consumes: { task: "t0", token: 1 } }]);
  expect(answer).toEqual({ ok: true, admits: true });
  const [next, ...more] = await claimOf(storage, 20);
  expect([next?.id, more]).toEqual(["t2", []]);
  expect(next?.limits).toEqual([
    { key: "account", atMost: 8 },
    { key: "webhook", atMost: 2 },
  ]);
  const { tasks } = await storage.pending("i", 9);
  expect(tasks.filter(({ isParked }) => isParked).map(({ id }) => id)).toEqual(["t3", "t4", "t5"]);
  expect(await storage.nextDue([WORKFLOW], ["steps"])).toBe(5_000);
}

test("an SQLite file with lanes goes on with limits", async () => {
  const folder = await mkdtemp(join(tmpdir(), "paystate-"));
  const path = join(folder, "old.db");
  const database = new Database(path);
  await writeFirstSchema(new Kysely({ dialect: new SqliteDialect({ database }) }), sqliteSchema);
  database.close();
  const storage = await sqliteStorage(path);
  await expectLimits(storage);
  await storage.close();
  await rm(folder, { recursive: true });
});

test.runIf(HAS_POSTGRES)("a PostgreSQL schema with lanes goes on with limits", async () => {
  const schema = `lanes_${process.pid}`;
  const pool = new pg.Pool({
    connectionString: await postgresUrl(),
    max: 2,
    options: `-c search_path=${schema}`,
  });
  await pool.query(`create schema ${schema}`);
  await writeFirstSchema(new Kysely({ dialect: new PostgresDialect({ pool }) }), postgresSchema);
  const storage = await postgresStorage(pool, { schema, clock: "caller" });
  await expectLimits(storage);
  await storage.close();
  await pool.query(`drop schema ${schema} cascade`);
  await pool.end();
});
