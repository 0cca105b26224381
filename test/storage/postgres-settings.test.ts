/** A role, a database or a server may be set to other defaults than PostgreSQL comes with: what a storage promises still holds. */
import pg from "pg";
import { describe, test } from "vitest";
import { postgresStorage } from "../../storage/postgres.ts";
import { storageContract, type StorageUnderTest } from "../contracts/storage.ts";
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
});
