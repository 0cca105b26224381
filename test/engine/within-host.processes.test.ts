/** Hosts that are killed between any two statements of their transactions: what is committed runs, and nothing else. */
// modules: host-sql
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEngine } from "paystate/engine";
import { silentLogger } from "../../src/core/runtime.ts";
import { THOROUGH } from "../kit/thorough.ts";
import { program } from "../programs/programs.ts";
import { type HostTables, notes, runsThat } from "./host-runs.ts";
import { type HostDatabase, hostDatabases } from "./host-world.ts";

/** A task that a killed host had in hand has its turn when the tasks of its key have had theirs. */
const PATIENCE_MS = THOROUGH ? 1_800_000 : 100_000;

/** Begin, the order, the start, the message, the end. */
const STATEMENTS = 5;

describe.each(hostDatabases)("killed hosts on $name", ({ make }) => {
  let database: HostDatabase;
  beforeEach(async () => {
    database = await make();
    await (await database.open()).close();
  });
  afterEach(() => database.destroy());

  /** Places orders until it is over or dead. Answers how many it has begun. */
  async function placed(from: number, to: number, dieAfter: number): Promise<number> {
    const args = [...program("host-runner"), ...database.place, ...[from, to, dieAfter].map(String)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const said: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => said.push(line));
    await once(child, "close");
    return said.length;
  }

  /** The orders that are there, once all that follows from them is done. */
  async function runOut(): Promise<readonly string[]> {
    const storage = await database.open();
    const runs = runsThat(() => {});
    const engine = createEngine<HostTables>({
      storage,
      workflows: [runs],
      tables: { notes },
      leaseMs: 1_000,
      pollMs: 50,
      logger: silentLogger,
    });
    engine.run();
    const connection = await database.connect();
    const rows = await connection.ask(`select id from ${database.orders} order by id`);
    const ids = rows.map((row) => (row as { readonly id: string }).id);
    const isTold = async (id: string): Promise<boolean> => {
      const tasks = await storage.tasks({ order: "instance", instance: id, limit: 1 });
      return tasks.length === 0 && (await engine.read(runs, id))?.context.heard.join() === id;
    };
    for (const id of ids) {
      await expect.poll(() => isTold(id), { timeout: PATIENCE_MS, interval: 50 }).toBe(true);
    }
    const started: string[] = [];
    let page: readonly { readonly id: string }[];
    do {
      const after = started.at(-1) ?? "";
      page = await storage.list({ order: "id", workflow: runs.key, status: "active", after, limit: 200 });
      started.push(...page.map(({ id }) => id));
    } while (page.length > 0);
    expect(started).toEqual(ids);
    await engine.stop();
    await storage.close();
    return ids;
  }

  test("F1: killed behind each statement of a transaction, it leaves the order with its run, or neither", async () => {
    for (let statement = 1; statement <= STATEMENTS; statement += 1) {
      // Of this one the end is a commit.
      await placed(statement * 2, statement * 2 + 1, statement);
      expect(await runOut()).toEqual(statement < STATEMENTS ? [] : [`o-000${STATEMENTS * 2}`]);
    }
  });
});
