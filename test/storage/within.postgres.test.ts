/** Queries of a host in the host's own transaction on PostgreSQL: their parameters, their tables, their refusals. */
// modules: host-sql

import pg from "pg";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { CompiledQuery } from "../../storage/compiled-queries.ts";
import type { HostTransaction } from "paystate/storage";
import { postgresTest } from "../kit/postgres-test.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

const test = postgresTest.extend("host", async ({ database }, { onCleanup }) => {
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query(`create temporary table kinds (n int, big bigint, at timestamptz, local timestamp, doc jsonb, list text[], raw bytea, done boolean,
    exact numeric unique deferrable initially deferred)`);
  const storage = await database.open();
  onCleanup(async () => {
    await client.end();
    await storage.close();
  });
  const add = async (queries: readonly CompiledQuery[], host: HostTransaction = client) =>
    storage.within?.(host, { queries });
  return { client, storage, add };
});

/** Each kind of parameter, and how the table gives it back as JSON. */
const GIVEN = {
  n: [7, 7],
  big: [9_007_199_254_740_993n, "9007199254740993"],
  at: [new Date("2026-01-02T03:04:05.678Z"), new Date("2026-01-02T03:04:05.678Z")],
  local: [new Date("2026-01-02T03:04:05.678Z"), new Date("2026-01-02T03:04:05.678Z")],
  doc: [
    { it: "'s", of: ["\\", '"'] },
    { it: "'s", of: ["\\", '"'] },
  ],
  list: [
    ["a,b", 'c"d', "", "NULL", "e\\f", null],
    ["a,b", 'c"d', "", "NULL", "e\\f", null],
  ],
  raw: [Buffer.from([0, 255]), Buffer.from([0, 255])],
  done: [true, true],
  exact: ["1.50", "1.50"],
} as const;
const insert = (
  values: readonly unknown[] = Object.values(GIVEN).map(([value]) => value),
): CompiledQuery => ({
  sql: "insert into kinds (n, big, at, local, doc, list, raw, done, exact) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
  parameters: values,
});
const expected = Object.fromEntries(Object.entries(GIVEN).map(([name, [, told]]) => [name, told]));

describe.skipIf(!HAS_POSTGRES)("queries within a transaction of a host on PostgreSQL", () => {
  // A column without a zone has the local time.
  const { TZ } = process.env;
  beforeAll(() => {
    process.env["TZ"] = "Asia/Tokyo";
  });
  afterAll(() => {
    if (TZ === undefined) delete process.env["TZ"];
    else process.env["TZ"] = TZ;
  });

  test("D64: parameters have the types of their columns, and a table of the session is found", async ({
    host,
  }) => {
    const { client, add } = host;
    await client.query("begin");
    expect(await add([insert(), insert(Object.keys(GIVEN).map(() => null))])).toEqual({ ok: true });
    await client.query("commit");
    const { rows } = await client.query("select * from kinds order by n nulls last");
    const none = Object.fromEntries(Object.keys(GIVEN).map((name) => [name, null]));
    expect(rows).toEqual([expected, none]);
    expect((await client.query("select name from pg_prepared_statements")).rows).toEqual([]);
  });

  test.for([
    [
      "ends the transaction behind itself",
      "insert into kinds (n) values (1); commit",
      /queries\.1: .*transaction/,
    ],
    ["is given what its column cannot be", "insert into kinds (n) values ('x')", /queries\.1: .*integer/],
    ["has a fault", "insert into kinds (m) values (1)", /queries\.1: .*column "m"/],
    ["reads only", "select 1", /queries\.1: expected one INSERT/],
  ] as const)(
    "D64: of a query that %s nothing is left, and the transaction goes on",
    async ([, sql, said], { host }) => {
      const { client, add } = host;
      await client.query("begin");
      const added = async (): Promise<void> => {
        const answer = await add([insert(), { sql, parameters: [] }]);
        throw (answer as { readonly error: Error }).error;
      };
      for (let time = 0; time < 2; time++) await expect(added()).rejects.toThrow(said);
      expect((await client.query("select name from pg_prepared_statements")).rows).toEqual([]);
      expect(await add([insert()])).toEqual({ ok: true });
      await client.query("commit");
      expect((await client.query("select n from kinds")).rows).toEqual([{ n: 7 }]);
    },
  );

  test("D64: a deferred constraint of the host's is judged at its COMMIT", async ({ host }) => {
    const { client, add } = host;
    await client.query("begin");
    expect(await add([insert(), insert()])).toEqual({ ok: true });
    await expect(client.query("commit")).rejects.toThrow(/kinds_exact_key/);
    expect((await client.query("select n from kinds")).rows).toEqual([]);
  });
});
