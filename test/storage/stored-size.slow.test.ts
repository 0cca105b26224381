/** What a finished order leaves: bytes of its rows and indexes, on a database of many. */
// modules: webhooks
import { join } from "node:path";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import pg from "pg";
import { expect, test } from "vitest";
import { postgresStorage as openPostgres } from "../../storage/postgres.ts";
import { fillPostgres, fillSqlite } from "./copy-orders.ts";
import { finishedOrders } from "./finished-orders.ts";
import { storedBytes } from "./stored-bytes.ts";
import { postgresStorage, sqliteStorage } from "../kit/storages.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";

/** So many that the pages of empty tables do not count. */
const ORDERS = 6_000;
const filling = { orders: ORDERS, accounts: 1 };

test("L7: a finished send with a webhook takes at most 12.9 kB on SQLite, and its copies are read like others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "paystate-size-"));
  const file = join(folder, "size.db");
  try {
    await (await sqliteStorage(file)).close();
    const finished = await finishedOrders();
    await fillSqlite(file, finished, filling);
    const { total } = await storedBytes({ file });
    expect(total / ORDERS).toBeLessThan(12_900);
    const storage = await sqliteStorage(file);
    const page = await storage.transactionsAfter("", ORDERS + 1);
    const views = await storage.transactionViews(page.map(({ id }) => id));
    expect(new Set(views.map(({ recipients }) => recipients.length))).toEqual(new Set([1]));
    expect(page).toHaveLength(ORDERS);
    await storage.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.runIf(HAS_POSTGRES)(
  "L7: a finished send with a webhook takes at most 16.3 kB on PostgreSQL",
  async () => {
    // A schema that other tests have used keeps their pages.
    const [url, schema] = [await postgresUrl(), `size_${process.pid}`];
    const storage = await postgresStorage(() => openPostgres(url, { schema, clock: "caller" }));
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    try {
      await fillPostgres({ url, schema }, await finishedOrders(), filling);
      const { total } = await storedBytes({ url, schema });
      expect(total / ORDERS).toBeLessThan(16_300);
    } finally {
      await storage.close();
      await pool.query(`drop schema ${schema} cascade`);
      await pool.end();
    }
  },
);
