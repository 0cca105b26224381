/** The storage contract on the tables of the payment service: round trips and refused writes. */
import assert from "node:assert/strict";
import type { AnyTable } from "../../../storage/table.ts";
import {
  type PaymentStorage,
  type PaymentTables,
  paymentTables,
  type PaymentWrite,
  type TableName,
} from "../../../src/payments/payment-storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { fullRows, nullRows } from "./rows.ts";
import { commit, either, ok, put, range, refusedWrite } from "./samples.ts";

const tables: Readonly<Record<TableName, AnyTable>> = paymentTables;

/** The sample row of a table, as the port gives it. */
const rowOf = async (storage: PaymentStorage, table: TableName): Promise<unknown> =>
  (await storage.find({ table: tables[table], key: fullRows[table].id }))[0];

const names = Object.keys(fullRows) as TableName[];

// The union of writes ties row to table; a loop over the names loses the tie.
const inserting = (table: TableName, rows: typeof fullRows): PaymentWrite =>
  ({ table, insert: rows[table] }) as PaymentWrite;

const updating = (table: TableName, rows: typeof fullRows): PaymentWrite => {
  const { id, ...row } = rows[table];
  const set = Object.fromEntries(Object.entries(row).filter(([field]) => field !== "version"));
  return { table, id, set } as PaymentWrite;
};

const roundTrips = names.map((table) =>
  promise(
    `a row of ${table} comes back as it went in, at every extreme and with every null, takes every change, and its id is taken`,
    async ({ storage, other, reopen }) => {
      await put(other, { writes: [inserting(table, fullRows)] });
      assert.deepEqual(await rowOf(storage, table), fullRows[table]);
      const again = await reopen();
      assert.deepEqual(await rowOf(again, table), fullRows[table]);
      assert.deepEqual(await commit(again, { writes: [inserting(table, nullRows)] }), refusedWrite(0));
      if (table === "audit") return;
      await put(again, { writes: [{ table, remove: fullRows[table].id } as PaymentWrite] });
      await put(again, { writes: [inserting(table, nullRows)] });
      assert.deepEqual(await rowOf(again, table), nullRows[table]);
      await put(again, { writes: [updating(table, fullRows)] });
      const { version } = fullRows[table] as { readonly version?: number };
      const grown = version === undefined ? {} : { version: version + 1 };
      assert.deepEqual(await rowOf(again, table), { ...fullRows[table], ...grown });
      const absent = { ...updating(table, fullRows), id: "absent" } as PaymentWrite;
      assert.deepEqual(await commit(again, { writes: [absent] }), refusedWrite(0));
    },
  ),
);

const updates: readonly StorageContractCase[] = [
  promise("a row of audit is never changed: a commit that tries fails whole", async ({ storage }) => {
    await put(storage, { writes: [inserting("audit", fullRows)] });
    const changed: PaymentWrite = { table: "audit", id: "audit", set: { reason: "another" } };
    const fact: PaymentWrite = { table: "facts", insert: { id: "f", value: "" } };
    await assert.rejects(commit(storage, { writes: [fact, changed] }));
    assert.deepEqual(await storage.audit(null, 9), [fullRows.audit]);
    assert.equal(await storage.fact("f"), null);
  }),
  promise("an update changes the fields it names and no others", async ({ storage }) => {
    await put(storage, { writes: [inserting("transactions", nullRows)] });
    await put(storage, {
      writes: [{ table: "transactions", id: "transaction", set: { status: "failed", reason: "x" } }],
    });
    assert.deepEqual((await storage.transaction("transaction"))?.transaction, {
      ...nullRows.transactions,
      status: "failed",
      reason: "x",
    });
    await put(storage, { writes: [{ table: "transactions", id: "transaction", set: {} }] });
    assert.equal((await storage.transaction("transaction"))?.transaction.reason, "x");
  }),
  promise(
    "an update from another version is refused, and each one lets the version grow",
    async ({ storage }) => {
      await put(storage, { writes: [inserting("quotes", nullRows)] });
      const used = (usedBy: string, expectedVersion?: number): PaymentWrite => ({
        table: "quotes",
        id: "quote",
        set: { usedBy },
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      });
      for (const version of [40, 42]) {
        assert.deepEqual(await commit(storage, { writes: [used("x", version)] }), refusedWrite(0));
      }
      assert.equal((await storage.quote("quote"))?.usedBy, null);
      await put(storage, { writes: [used("y", 41), used("z", 42)] });
      await put(storage, { writes: [used("w")] });
      assert.deepEqual(
        [(await storage.quote("quote"))?.usedBy, (await storage.quote("quote"))?.version],
        ["w", 44],
      );
    },
  ),
  promise(
    "a commit that expects a version is refused by any other, and changes nothing by expecting",
    async ({ storage, other }) => {
      const expecting = (id: string, expectVersion: number, fact: string) =>
        commit(other, {
          writes: [
            { table: "facts", insert: { id: fact, value: "" } },
            { table: "gates", id, expectVersion },
          ],
        });
      assert.deepEqual(await expecting("gate", 0, "absent"), ok);
      assert.deepEqual(await expecting("gate", 1, "none"), refusedWrite(1));
      await put(storage, { writes: [inserting("gates", fullRows)] });
      assert.deepEqual(await expecting("gate", 3, "present"), ok);
      assert.deepEqual(await expecting("gate", 3, "again"), ok);
      for (const version of [0, 2, 4]) {
        assert.deepEqual(await expecting("gate", version, "none"), refusedWrite(1));
      }
      assert.deepEqual(await storage.gates(["gate", "gate", "none"]), [fullRows.gates]);
      await put(storage, {
        writes: [{ table: "gates", id: "gate", set: { rules: "" }, expectedVersion: 3 }],
      });
      assert.deepEqual(await expecting("gate", 3, "none"), refusedWrite(1));
      assert.equal(await storage.fact("none"), null);
      // Within one commit what was written before counts.
      const both: PaymentWrite[] = [
        { table: "gates", id: "gate", set: { rules: "x" } },
        { table: "gates", id: "gate", expectVersion: 5 },
      ];
      assert.deepEqual(await commit(storage, { writes: both }), ok);
      await assert.rejects(commit(storage, { writes: [{ table: "facts", id: "f", expectVersion: 1 }] }));
    },
  ),
  promise(
    "G2: of twenty users of one quote one succeeds, whatever else they commit",
    async ({ storage, other }) => {
      await put(storage, { writes: [inserting("quotes", nullRows)] });
      const race = range(20).map((index) =>
        commit(either(index, storage, other), {
          writes: [
            { table: "transactions", insert: { ...nullRows.transactions, id: `t${index}` } },
            { table: "quotes", id: "quote", set: { usedBy: `t${index}` }, expectedVersion: 41 },
          ],
        }),
      );
      const results = await Promise.all(race);
      const winner = results.findIndex((result) => result.ok);
      assert.equal((await storage.quote("quote"))?.usedBy, `t${winner}`);
      for (const [index, result] of results.entries()) {
        assert.deepEqual(result, index === winner ? ok : refusedWrite(1));
        assert.equal((await storage.transaction(`t${index}`)) !== null, index === winner);
      }
    },
  ),
  promise("a message hash belongs to one attempt, by insert and by update", async ({ storage }) => {
    const attempt = (id: string, messageHash: string): PaymentTables["attempts"] => ({
      ...fullRows.attempts,
      id,
      messageHash,
    });
    await put(storage, { writes: [{ table: "attempts", insert: attempt("a", "m") }] });
    const writes = {
      other: { table: "attempts" as const, insert: attempt("b", "n") },
      same: { table: "attempts" as const, insert: attempt("c", "m") },
    };
    assert.deepEqual(await commit(storage, { writes: [writes.other, writes.same] }), refusedWrite(1));
    await put(storage, { writes: [writes.other] });
    const take = (messageHash: string) =>
      commit(storage, { writes: [{ table: "attempts", id: "b", set: { messageHash } }] });
    assert.deepEqual(await take("m"), refusedWrite(0));
    assert.deepEqual(await take("n"), ok, "its own");
    assert.deepEqual(await take("o"), ok, "a free one");
    await put(storage, { writes: [{ table: "attempts", insert: attempt("d", "n") }] });
  }),
];

/** The tables of the payment service: what goes in comes out, and a refused write changes nothing. */
export const tableCases: readonly StorageContractCase[] = [...roundTrips, ...updates];
