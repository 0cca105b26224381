/** Lists in PostgreSQL come from an index that ends in their order: none is sorted, and none is found by walking the table. */
import pg from "pg";
import { expect, test } from "vitest";
import { bound } from "../../storage/postgres/text.ts";
import { GivenTable, type TableDialect } from "../../storage/sql/given-table.ts";
import { postgresSchema } from "../../storage/sql/dialect.ts";
import type { AnyTable } from "../../storage/table.ts";
import { paymentTables } from "../../src/payments/payment-storage.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { postgresStorage } from "../kit/storages.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

interface Plan {
  readonly "Node Type": string;
  readonly "Index Name"?: string;
  readonly "Actual Rows"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

const listTest = test.extend<{ explain: (sql: string, how?: string) => Promise<Plan>; pool: pg.Pool }>({
  pool: async ({}, use) => {
    const { url, schema, open, destroy } = await postgresDatabase();
    const storage = await postgresStorage(open);
    const pool = new pg.Pool({ connectionString: url, max: 1, options: `-c search_path=${schema}` });
    await use(pool);
    await pool.end();
    await storage.close();
    await destroy();
  },
  explain: async ({ pool }, use) => {
    await use(async (sql, how = "") => {
      const { rows } = await pool.query<{ "QUERY PLAN": readonly [{ Plan: Plan }] }>(
        `explain (${how}format json) ${sql}`,
      );
      const [found] = rows[0]?.["QUERY PLAN"] ?? [];
      if (found === undefined) throw new Error("the server explains nothing");
      return found.Plan;
    });
  },
});

const DIALECT: TableDialect = {
  now: "0",
  isAnyOf: "= any(array[''])",
  json: JSON.stringify,
  schema: postgresSchema,
};

/** A read of a table by each of its indexes, with no field fixed, with the first, and so on. */
function* listsOf(table: AnyTable): Generator<{ readonly read: string; readonly sql: string }> {
  const given = new GivenTable(table, DIALECT);
  const values = { text: "x", integer: 1, boolean: true } as const;
  const valueOf = (field: string): unknown =>
    values[(table.columns[field] ?? "text").replace("?", "") as keyof typeof values];
  for (const [index, { on }] of Object.entries(table.indexes)) {
    for (const order of ["asc", "desc"] as const) {
      for (let fixed = 0; fixed <= on.length; fixed += 1) {
        const equals = Object.fromEntries(on.slice(0, fixed).map((field) => [field, valueOf(field)]));
        const found = given.find({ table, index, equals, order, limit: 21 });
        yield { read: `${table.name} ${index} ${order}, ${fixed} fixed`, sql: bound(found, found.values) };
      }
    }
  }
}

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

listTest.runIf(HAS_POSTGRES)(
  "L2: every list that a table declares comes out of its index in order",
  async ({ explain, pool }) => {
    await pool.query("set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off");
    const sorted: string[] = [];
    let lists = 0;
    for (const { read, sql } of Object.values<AnyTable>(paymentTables).flatMap((table) => [
      ...listsOf(table),
    ])) {
      lists += 1;
      if (nodesOf(await explain(sql)).some((node) => node["Node Type"].includes("Sort"))) sorted.push(read);
    }
    expect(lists).toBeGreaterThan(100);
    expect(sorted).toEqual([]);
  },
);

// modules: webhooks
listTest.runIf(HAS_POSTGRES)(
  "L2: the events of an account whose events are the oldest of many are read by its own index",
  async ({ explain, pool }) => {
    await pool.query(
      `insert into "paystateAnnouncements" (id, "accountId", at)
        select 'evt_' || n, case when n <= 2000 then 'old' else 'new ' || n % 3 end, n from generate_series(1, 150000) n`,
    );
    await pool.query(`analyze "paystateAnnouncements"`);
    const given = new GivenTable(paymentTables.announcements, DIALECT);
    for (const order of ["asc", "desc"] as const) {
      const query = { table: paymentTables.announcements, index: "ofAccount", order, limit: 21 } as const;
      const found = given.find({ ...query, equals: { accountId: "old" } });
      const nodes = nodesOf(await explain(bound(found, found.values), "analyze, "));
      const touched = nodes.map((node) => (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0));
      expect(Math.max(...touched), order).toBe(21);
    }
  },
);
