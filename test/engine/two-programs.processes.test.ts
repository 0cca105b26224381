/** A rolling deployment of two programs, which differ in a chart, a table, its indexes and the engine's own schema, under kills. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { expect, test } from "vitest";
import { byDepth, EXPLORING_MS, drawn } from "../kit/thorough.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { program } from "../programs/programs.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { receiptsOf } from "./receipts.ts";

const KILLS = byDepth({ quick: 6, ci: 12, long: 104 });

interface Place {
  /** What a program is given to find the database. */
  readonly args: readonly [place: string, schema: string];
  readonly open: () => Promise<EngineStorage>;
  readonly change: (text: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const places: Readonly<Record<string, () => Promise<Place>>> = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    const path = join(folder, "jobs.db");
    return {
      args: [path, ""],
      open: () => sqliteStorage(path),
      change: async (text) => new Database(path).exec(text).close(),
      close: () => rm(folder, { recursive: true }),
    };
  },
  async PostgreSQL() {
    const url = await postgresUrl();
    const schema = `two_programs_${process.pid}`;
    const admin = new pg.Pool({ connectionString: url, max: 1, options: `-c search_path=${schema}` });
    await admin.query(`drop schema if exists ${schema} cascade`);
    return {
      args: [url, schema],
      open: () => postgresStorage(url, { schema }),
      change: (text) => admin.query(text),
      async close() {
        await admin.query(`drop schema ${schema} cascade`);
        await admin.end();
      },
    };
  },
};

/** Runs a program until its work is done, or it is killed after so many effects. */
async function run(
  { args }: Place,
  version: string,
  life: { name: string; killedAfter: number },
): Promise<void> {
  const child = spawn(process.execPath, [...program("versions-runner"), ...args, version, life.name, "12"]);
  const complaints: string[] = [];
  child.stderr.on("data", (chunk) => complaints.push(String(chunk)));
  let left = life.killedAfter;
  child.stdout.on("data", (chunk) => {
    left -= String(chunk).split("\n").length - 1;
    if (left <= 0) child.kill("SIGKILL");
  });
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  expect([code === 0 || signal === "SIGKILL", complaints.join("")]).toEqual([true, ""]);
}

test.each(drawn(HAS_POSTGRES ? ["SQLite", "PostgreSQL"] : ["SQLite"], "two programs"))(
  "D42: two programs side by side on %s, killed again and again, do each job once, and the older one goes on alone",
  { timeout: EXPLORING_MS },
  async (name) => {
    const place = await places[name]?.();
    if (place === undefined) throw new Error("no place");
    await run(place, "old", { name: "first", killedAfter: 5 });
    await run(place, "new", { name: "second", killedAfter: 5 });
    await place.change(
      `alter table "paystateTasks" add column tip text; update "paystateSchema" set version = 2`,
    );
    const turns = Array.from({ length: KILLS / 2 }, (_, index) => index);
    for (const turn of turns) {
      const killedAfter = 1 + ((turn * 7) % 17);
      await Promise.all(
        ["old", "new"].map((version) => run(place, version, { name: `${version}-${turn}`, killedAfter })),
      );
    }
    await run(place, "new", { name: "last", killedAfter: Infinity });
    await run(place, "old", { name: "back", killedAfter: Infinity });
    const storage = await place.open();
    const receipts = receiptsOf("new");
    await storage.install([receipts]);
    const instances = await storage.list({ order: "newest", after: null, limit: 10_000 });
    const done = await storage.find({ table: receipts, index: "ofProgram" });
    expect(instances.filter(({ status }) => status !== "done")).toEqual([]);
    const sorted = (ids: readonly string[]): readonly string[] => ids.toSorted((a, b) => (a < b ? -1 : 1));
    expect(sorted(done.map(({ job }) => job))).toEqual(sorted(instances.map(({ id }) => id)));
    expect(instances.filter(({ id }) => id.startsWith("back-"))).toHaveLength(12);
    expect(new Set(done.map(({ by }) => by))).toEqual(new Set(["old", "new"]));
    await storage.close();
    await place.close();
  },
);
