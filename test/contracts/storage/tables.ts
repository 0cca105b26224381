/** The storage contract on the tables of the payment service: round trips and refused writes. */
import assert from "node:assert/strict";
import type {
  PaymentTables,
  TableName,
  PaymentStorage,
  PaymentWrite,
} from "../../../src/payments/payment-storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { fullRows, nullRows } from "./rows.ts";
import { commit, either, ok, put, range, refusedWrite } from "./samples.ts";

const viewOf = async (storage: PaymentStorage) => (await storage.orderViews(["order"]))[0]; // modules: private

/** How the port shows the sample row of each table. */
const readers: { readonly [T in TableName]: (storage: PaymentStorage) => Promise<unknown> } = {
  facts: async (storage) => ({ id: "fact", value: await storage.fact("fact") }),
  accounts: async (storage) => (await storage.apiKey("key"))?.account,
  apiKeys: async (storage) => (await storage.apiKey("key"))?.key,
  quotes: (storage) => storage.quote("quote"),
  transactions: async (storage) => (await storage.transaction("transaction"))?.transaction,
  recipients: async (storage) => (await storage.transaction("transaction"))?.recipients[0],
  orders: (storage) => storage.order("order"), // modules: private
  chunks: async (storage) => (await viewOf(storage))?.chunks[0], // modules: private
  transfers: (storage) => storage.transfer("transfer"), // modules: private
  levels: async (storage) => (await viewOf(storage))?.levels[0], // modules: private
  deposits: async (storage) => (await viewOf(storage))?.deposits[0], // modules: private
  holds: async (storage) => (await viewOf(storage))?.holds[0], // modules: private
  acts: async (storage) => (await viewOf(storage))?.acts[0], // modules: private
  orderStubs: (storage) => storage.orderStub("stub"), // modules: private
  reservations: async (storage) => (await storage.reservations(fullRows.reservations.resource))[0],
  attempts: async (storage) => (await storage.attempts(["signature"]))[0],
  idempotency: (storage) => storage.idempotency("idempotency"),
  notices: (storage) => storage.notice("notice"),
  announcements: async (storage) =>
    (await storage.announcements("account", { order: "asc", beyond: null, limit: 1 }))[0],
  untoldEvents: async (storage) => (await storage.untoldEventsAfter("", 1))[0],
  webhooks: (storage) => storage.webhook("webhook"),
  webhookLists: async (storage) => {
    const version = await storage.webhookChanges("account");
    return version === 0 ? undefined : { id: "account", version, changedAt: LATEST_AT };
  },
  deliveries: async (storage) => (await storage.deliveries("transaction"))[0],
  deliveryAttempts: async (storage) => (await storage.deliveryAttempts("delivery"))[0],
  limitHits: async (storage) => {
    const { count, oldest } = await storage.limitWindow("account", "scope", 0);
    return count === 1 ? { id: "hit", accountId: "account", scope: "scope", at: oldest } : undefined;
  },
  spendings: async (storage) => {
    const { purse, at } = fullRows.spendings;
    const [amount, later] = [await storage.spent(purse, 0), await storage.spent(purse, at)];
    return amount === 0n || later > 0n ? undefined : { id: "spending", purse, at, amount };
  },
  gates: async (storage) => (await storage.gates(["gate"]))[0],
  volumes: async (storage) => {
    const amount = await storage.volume("scope", 0);
    return amount === 0n ? undefined : { id: "volume", scope: "scope", at: LATEST_AT, amount };
  },
  matters: async (storage) => (await storage.matters(["matter"]))[0],
  decisions: (storage) => storage.decision("matter"),
  audit: async (storage) => (await storage.audit(null, 1))?.[0],
};

/** When the sample volume is: the port shows sums only. */
const LATEST_AT = fullRows.volumes.at;

const names = Object.keys(fullRows) as TableName[];
/** Those whose rows may be changed. */
const changeable = names.filter((name) => name !== "audit");

// The union of writes ties row to table; a loop over the names loses the tie.
const inserting = (table: TableName, rows: typeof fullRows): PaymentWrite =>
  ({ table, insert: rows[table] }) as PaymentWrite;

const updating = (table: TableName, rows: typeof fullRows): PaymentWrite => {
  const { id, ...row } = rows[table];
  const set = Object.fromEntries(Object.entries(row).filter(([field]) => field !== "version"));
  return { table, id, set } as PaymentWrite;
};

const roundTrips = names.flatMap((table): StorageContractCase[] => [
  promise(`a row of ${table} comes back as it went in, at every extreme`, async ({ storage, reopen }) => {
    // Its account and transaction are read with it.
    const others = names.filter((name) => name !== table).map((name) => inserting(name, nullRows));
    await put(storage, { writes: [...others, inserting(table, fullRows)] });
    assert.deepEqual(await readers[table](storage), fullRows[table]);
    assert.deepEqual(await readers[table](await reopen()), fullRows[table]);
  }),
  promise(`a row of ${table} takes every null, and refuses its id twice`, async ({ storage, other }) => {
    await put(storage, { writes: names.map((name) => inserting(name, nullRows)) });
    assert.deepEqual(await readers[table](storage), nullRows[table]);
    const twice = { writes: [inserting(table, fullRows)] };
    assert.deepEqual(await commit(other, twice), { ok: false, conflict: "write", index: 0 });
  }),
]);

const everyChange = changeable.flatMap((table): StorageContractCase[] => [
  promise(
    `a row of ${table} takes every change, and refuses one that is absent`,
    async ({ storage, other }) => {
      await put(storage, { writes: names.map((name) => inserting(name, nullRows)) });
      await put(other, { writes: [updating(table, fullRows)] });
      const { version } = fullRows[table] as { readonly version?: number };
      const grown = version === undefined ? {} : { version: version + 1 };
      assert.deepEqual(await readers[table](storage), { ...fullRows[table], ...grown });
      const absent = { ...updating(table, fullRows), id: "absent" } as PaymentWrite;
      assert.deepEqual(await commit(storage, { writes: [absent] }), {
        ok: false,
        conflict: "write",
        index: 0,
      });
    },
  ),
]);

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
export const tableCases: readonly StorageContractCase[] = [...roundTrips, ...everyChange, ...updates];
