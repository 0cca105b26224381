/** A database that is opened while another process of paystate makes its schema. */
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { postgresStorage } from "../../storage/postgres.ts";
import { startOf } from "../contracts/storage/samples.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";

test.runIf(HAS_POSTGRES)(
  "D56: eight processes open an empty database whose schema another one holds for longer than locks are waited for",
  async () => {
    const url = await postgresUrl();
    const schema = `opening_${process.pid}_${process.env["VITEST_POOL_ID"] ?? "0"}`;
    const other = new pg.Client(url);
    await other.connect();
    onTestFinished(() => other.end());
    const lock = `hashtextextended('paystate/${schema}', 0)`;
    await other.query(`select pg_advisory_lock(${lock})`);

    const opening = Array.from({ length: 8 }, () => postgresStorage(url, { schema, lockTimeoutMs: 50 }));
    // The server's own clock says how long the lock is held.
    await other.query(`select pg_sleep(0.6), pg_advisory_unlock(${lock})`);
    const storages = await Promise.all(opening);
    for (const [index, storage] of storages.entries()) {
      expect(await storage.commit([{ starts: [startOf(`i${index}`)] }])).toEqual([{ ok: true }]);
    }
    await Promise.all(storages.map((storage) => storage.close()));
    await other.query(`drop schema ${schema} cascade`);
  },
);
