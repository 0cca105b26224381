/** A database that is opened while another process of paystate makes its schema. */
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { StorageUnusable } from "paystate/storage/postgres";
import { postgresStorage } from "../../storage/postgres.ts";
import { startOf } from "../contracts/storage/samples.ts";
import { postgresTest } from "../kit/postgres-test.ts";
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

describe.runIf(HAS_POSTGRES)("an opening whose connection goes away", () => {
  postgresTest.for([
    ["before it has asked anything", "server_version_num"],
    ["while it reads what is there", "has_schema_privilege"],
    ["while it makes the schema", "create table"],
    ["by its first commit", "paystate_commit"],
  ] as const)("%s says in a sentence that it was lost, or goes on", async ([, text], { database, proxy }) => {
    const schema = `${database.schema}_opened`;
    for (const moment of ["before", "after"] as const) {
      proxy.plan({ text, moment });
      const told = await postgresStorage(proxy.url, { schema }).then(
        (storage) => storage.close(),
        (error: unknown) => error,
      );
      expect(told === undefined || (told instanceof StorageUnusable && told.code === "unavailable")).toBe(
        true,
      );
    }
    const storage = await postgresStorage(proxy.url, { schema });
    await storage.close();
    const admin = new pg.Client(database.url);
    await admin.connect();
    await admin.query(`drop schema ${schema} cascade`);
    await admin.end();
  });
});
