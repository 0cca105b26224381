/** What waits although its keys have room: no storage leaves such a task behind, and an engine finds one that is there. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { expect, test } from "vitest";
import { createEngine } from "paystate/engine";
import { silentLogger } from "../../src/core/runtime.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { arm, ids, limitedTo, range, taskOf } from "../contracts/storage/samples.ts";
import { turns } from "../kit/engine-world.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { postgresStorage, sqliteStorage } from "../kit/storages.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

/** A storage, and the way to change its rows behind its back. */
interface Forgetful {
  readonly storage: PaymentStorage;
  change(statement: string): Promise<unknown>;
  end(): Promise<void>;
}

const databases: Readonly<Record<string, () => Promise<Forgetful>>> = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), "paystate-"));
    const path = join(folder, "test.db");
    const storage = await sqliteStorage(path);
    const other = new Database(path);
    return {
      storage,
      change: async (statement) => other.exec(statement),
      async end() {
        other.close();
        await storage.close();
        await rm(folder, { recursive: true });
      },
    };
  },
  async PostgreSQL() {
    const database = await postgresDatabase();
    const storage = await postgresStorage(database.open);
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query(`set search_path to "${database.schema}"`);
    return {
      storage,
      change: (statement) => other.query(statement),
      async end() {
        await other.end();
        await storage.close();
        await database.destroy();
      },
    };
  },
};

const forgotten = async (storage: PaymentStorage): Promise<string[]> =>
  ids(await storage.tasks({ order: "forgotten" })).toSorted();

test.skipIf(!HAS_POSTGRES).each(Object.entries(databases))(
  "G10: a task that is parked although its keys have room is found on %s, of 64 keys at a call, and logged with its keys",
  async (_, open) => {
    const { storage, change, end } = await open();
    try {
      const within = (id: string, first: string, last: string) =>
        taskOf(id, {
          limits: [
            { key: first, atMost: 2 },
            { key: last, atMost: 1 },
          ],
        });
      const names = range(70).map((index) => `k${index + 10}`);
      await arm(
        storage,
        ...names.flatMap((name) => [limitedTo(name, name, 1), limitedTo(`${name}+`, name, 1)]),
      );
      await arm(storage, within("a0", "a", "x"), within("a1", "a", "x"), within("a2", "a", "y"));
      await arm(storage, within("b0", "b", "x"), within("b1", "b", "x"), taskOf("free"));
      expect([await forgotten(storage), await forgotten(storage)], "nothing is").toEqual([[], []]);

      await change(`update "paystateTasks" set admission = 'parked' where id in ('a2', 'k79')`);
      expect(await forgotten(storage), "of 64 keys, none of them the last").toEqual(["a2"]);
      expect(await forgotten(storage), "of those behind them").toEqual(["k79"]);
      expect(await forgotten(storage), "from the first one on").toEqual(["a2"]);
      const errors: unknown[] = [];
      const logger = { ...silentLogger, error: (fields: object) => errors.push(fields) };
      const engine = createEngine({ storage, workflows: [], logger, clock: virtualClock() });
      engine.run();
      while (errors.length === 0) await turns(1);
      await engine.stop();
      expect(errors).toEqual([{ task: "k79", instance: "i", workflow: "sample@1", keys: ["k79"] }]);
    } finally {
      await end();
    }
  },
);
