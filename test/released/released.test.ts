/** What released versions have left goes on under the present one: opened, migrated, and every order brought to its end. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { paymentStorage } from "../../src/payments/payment-storage.ts";
import { paymentTables } from "../../src/payments/tables.ts";
import { postgresStorage } from "../../storage/postgres.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { chainFixture } from "../kit/chain-fixture.ts";
import { brokenMoney } from "../kit/check-money.ts";
import { swapFixture } from "../kit/swap-fixture.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { contentsOf, fileOf, type Released, SCHEMA, standingsIn, VERSION } from "./released.ts";

const files = await readdir(import.meta.dirname);
const versions = files.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length));

/** What becomes of each order that was under way, by what it was. */
const ENDS: Readonly<Record<string, string>> = {
  'private send processing "routing"': 'private send completed "completed"',
  'private send confirmed "settling"': 'private send completed "completed"',
  'private payroll pending "awaitingDeposit"': 'private payroll completed "completed"',
  'private send pending "awaitingDeposit"': 'private send failed "failed"',
  'wallet send confirmed "confirmed"': 'wallet send completed "completed"',
  'wallet send pending "broadcasting"': 'wallet send completed "completed"',
  'wallet send pending "accepted"': 'wallet send completed "completed"',
};

const stores: Readonly<Record<string, (of: string, folder: string) => Promise<EngineStorage>>> = {
  async SQLite(of, folder) {
    const path = join(folder, "payments.db");
    await writeFile(path, contentsOf("db", of));
    return sqliteStorage(path);
  },
  async PostgreSQL(of) {
    const url = await postgresUrl();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    // As a dump is read back: functions stand before the tables that they are about.
    await client.query(`drop schema if exists ${SCHEMA} cascade; set check_function_bodies = false`);
    await client.query(contentsOf("sql", of).toString());
    await client.end();
    return postgresStorage(url, { schema: SCHEMA, clock: "caller", listen: false });
  },
};

test("D39: the present version has left a database, too", () => {
  // Where this fails, run test/released/write.ts before this version is released.
  expect(versions).toContain(VERSION);
});

describe.each(versions)("version %s", (version) => {
  test.each(HAS_POSTGRES ? ["SQLite", "PostgreSQL"] : ["SQLite"])(
    "D39: its database in %s is opened, each order is what it was, and those under way come to their ends",
    async (name) => {
      const folder = await mkdtemp(join(tmpdir(), "paystate-"));
      const journal = join(folder, "chain");
      await writeFile(journal, contentsOf("chain", version));
      const { now, slot, orders } = JSON.parse(await readFile(fileOf("json", version), "utf8")) as Released;
      // Until a version is released, what it leaves is written anew where its tables change without a migration.
      const storage = await stores[name]?.(version, folder);
      if (storage === undefined) throw new Error("no storage");
      expect(await standingsIn(paymentStorage(storage))).toEqual(orders);

      const on = await chainFixture({ journal, now });
      expect(on.chain.slot()).toBeGreaterThanOrEqual(slot);
      const world = await swapFixture({ options: { storage, on, broadcastDelayMs: 5_000 } });
      for (let round = 0; round < 4; round += 1) {
        await world.pass(5_000);
        await world.settle();
      }
      await world.pass(2 * 3_600_000);
      await world.sweep();
      const ends = Object.entries(orders).map(([id, order]) => [id, ENDS[order] ?? order]);
      expect(await standingsIn(world.storage)).toEqual(Object.fromEntries(ends));
      const deposits = await storage.find({ table: paymentTables.deposits });
      const ledgerOf = { storage: world.storage, ledger: world.ledger, mints: Object.values(world.mints) };
      expect(
        await brokenMoney(
          ledgerOf,
          deposits.map(({ id }) => id),
        ),
      ).toEqual([]);
      expect((await world.service.health()).status).toBe("ok");
      await world.close();
      await storage.close();
      await rm(folder, { recursive: true });
    },
  );
});
