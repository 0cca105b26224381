/** Rows that commit late on PostgreSQL: numbers are drawn before the commit, and a reader who goes on must miss none. */
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PaymentStorage, PaymentWrite } from "../../src/payments/payment-storage.ts";
import { ok } from "../contracts/storage/samples.ts";
import { postgresDatabase, type PostgresDatabase } from "../kit/postgres-database.ts";
import { postgresStorage } from "../kit/storages.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

// modules: webhooks
const event = (id: string, accountId: string): PaymentWrite => ({
  table: "announcements",
  insert: { id, accountId, at: 0 },
});
const fact = (id: string): PaymentWrite => ({ table: "facts", insert: { id, value: "" } });

describe.skipIf(!HAS_POSTGRES)("rows that commit late", () => {
  let database: PostgresDatabase;
  let stranger: pg.Client;
  const storages: PaymentStorage[] = [];
  beforeEach(async () => {
    database = await postgresDatabase();
    storages.push(await postgresStorage(database.open), await postgresStorage(database.open));
    stranger = new pg.Client({ connectionString: database.url });
    await stranger.connect();
  });
  afterEach(async () => {
    await stranger.end();
    for (const each of storages.splice(0)) await each.close();
    await database.destroy();
  });

  /** A commit of one storage that has inserted its event, and waits for a stranger before it can end. */
  async function late(write: PaymentWrite): Promise<{ readonly committed: Promise<unknown> }> {
    await stranger.query(
      `begin; insert into "${database.schema}"."paystateFacts" (id, value) values ('late', '')`,
    );
    const committed = storages[0]?.commit([{ writes: [write, fact("late")] }]) ?? Promise.resolve();
    const waits = `select 1 from pg_locks where not granted and locktype = 'transactionid'`;
    while ((await stranger.query(waits)).rows.length === 0) await new Promise(setImmediate);
    return { committed };
  }

  // modules: webhooks
  const seen = async (accountId: string, beyond: string | null): Promise<readonly string[]> =>
    (await storages[1]?.announcements(accountId, { order: "asc", beyond, limit: 10 }))?.map(({ id }) => id) ??
    [];

  test("an account that reads its events on and on misses none, whichever process is late", async () => {
    const first = await late(event("e1", "ada"));
    const second = storages[1]?.commit([{ writes: [event("e2", "ada")] }]);
    // That of another account does not wait, and ends after the second has begun.
    expect(await storages[1]?.commit([{ writes: [event("e3", "bob")] }])).toEqual([ok]);
    const read = [...(await seen("ada", null))];
    await stranger.query("rollback");
    expect([await first.committed, await second]).toEqual([[ok], [ok]]);
    read.push(...(await seen("ada", read.at(-1) ?? null)));
    expect(read).toEqual(["e1", "e2"]);
    expect(await seen("bob", null)).toEqual(["e3"]);
  });
});
