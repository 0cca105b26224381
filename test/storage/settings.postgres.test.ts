/** A role, a database or a server may be set to other defaults than PostgreSQL comes with: what a storage promises still holds. */
import pg from "pg";
import { describe, expect, test } from "vitest";
import { type PostgresClient, postgresStorage } from "../../storage/postgres.ts";
import { storageContract, type StorageUnderTest } from "../contracts/storage.ts";
import { ok, startOf } from "../contracts/storage/samples.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

/** An empty schema, opened with these settings in each session. */
async function setTo(settings: readonly string[]): Promise<StorageUnderTest> {
  const { url, schema, destroy } = await postgresDatabase();
  const options = settings.map((setting) => `-c ${setting}`).join(" ");
  const pool = new pg.Pool({ connectionString: url, max: 10, options });
  return {
    open: () => postgresStorage(pool, { schema, clock: "caller" }),
    async destroy() {
      await pool.end();
      await destroy();
    },
  };
}

const named = (pattern: RegExp) => storageContract.filter(({ name }) => pattern.test(name));

describe.skipIf(!HAS_POSTGRES)("a default of a role", () => {
  test.each(named(/^of twenty (webhooks|reservations|hits|amounts) at once/))(
    "of transactions that see one state throughout: $name",
    ({ run }) => run(() => setTo(["default_transaction_isolation=repeatable\\ read"])),
  );

  test.each(named(/comes back as it went in, every kind/))(
    "of another way to write bytes: $name",
    ({ run }) => run(() => setTo(["bytea_output=escape", "standard_conforming_strings=off"])),
  );

  test("that ends idle sessions: what is asked as one ends is asked of another", async () => {
    const { url, schema, destroy } = await postgresDatabase();
    const pool = new pg.Pool({ connectionString: url, max: 2 });
    // What the server says by itself arrives as the answer to what is asked in that moment.
    const said = Object.assign(new Error("terminating connection due to idle-session timeout"), {
      code: "57P05",
    });
    let ended = 0;
    const connect = async (): Promise<PostgresClient> => {
      const client = (await pool.connect()) as unknown as PostgresClient;
      return {
        query(query) {
          if (ended > 0 || !query.text.includes("select paystate_commit")) return client.query(query);
          ended += 1;
          return Promise.reject(said);
        },
        on: (...heard) => client.on(...heard),
        release: (destroyed) => client.release(destroyed),
      };
    };
    const through = { connect, on: pool.on.bind(pool), options: {}, end: async () => {} };
    const storage = await postgresStorage(through, { schema, listen: false });
    expect([await storage.commit([{ starts: [startOf("i")] }]), ended]).toEqual([[ok], 1]);
    await storage.close();
    await pool.end();
    await destroy();
  });
});
