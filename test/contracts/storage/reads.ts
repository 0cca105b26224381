/** The storage contract on the named reads, and on the inserts that count before they insert. */
import assert from "node:assert/strict";
import type { PaymentTables, PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { fullRows, nullRows } from "./rows.ts";
import { commit, either, hit, ids, ok, put, range, refusedWrite, webhookOf } from "./samples.ts";

const counted: readonly StorageContractCase[] = [
  promise("of twenty webhooks at once an account gets as many as it may have", async ({ storage, other }) => {
    await put(storage, {
      writes: [
        { table: "webhooks", insert: webhookOf("deleted", { deletedAt: 5 }) },
        { table: "webhooks", insert: webhookOf("others", { accountId: "b" }) },
      ],
    });
    const race = range(20).map((index) =>
      commit(either(index, storage, other), {
        writes: [{ table: "webhooks", insert: webhookOf(`w${index}`), atMost: { count: 5 } }],
      }),
    );
    const results = await Promise.all(race);
    assert.equal(results.filter((result) => result.ok).length, 5);
    assert.ok(results.every((result) => result.ok || result.conflict === "write"));
    const [first] = await storage.webhooks("a");
    assert.ok(first);
    await put(storage, { writes: [{ table: "webhooks", id: first.id, set: { deletedAt: 9 } }] });
    await put(storage, { writes: [{ table: "webhooks", insert: webhookOf("next"), atMost: { count: 5 } }] });
    assert.equal((await storage.webhooks("a")).length, 5);
  }),
  promise(
    "of twenty reservations at once a resource promises what it has, to the last unit",
    async ({ storage, other }) => {
      const huge = 2n ** 63n;
      const insert = (id: string, amount: bigint, resource = "sponsor") => ({
        table: "reservations" as const,
        insert: { id, version: 1, resource, amount, createdAt: 1, lapsesAt: null, releasedAt: null },
      });
      await put(storage, { writes: [insert("others", huge, "desk"), insert("first", huge)] });
      const total = huge + 70n;
      const race = range(20).map((index) =>
        commit(either(index, storage, other), {
          writes: [{ ...insert(`r${index}`, 10n), atMost: { total } }],
        }),
      );
      const results = await Promise.all(race);
      assert.equal(results.filter((result) => result.ok).length, 7);
      assert.deepEqual(
        await commit(other, { writes: [{ ...insert("one", 1n), atMost: { total } }] }),
        refusedWrite(0),
      );
      await put(storage, { writes: [{ table: "reservations", id: "first", set: { releasedAt: 2 } }] });
      await put(storage, { writes: [{ ...insert("next", huge), atMost: { total } }] });
      const promised = await other.reservations("sponsor");
      assert.equal(
        promised.reduce((sum, { amount }) => sum + amount, 0n),
        total,
      );
      assert.ok(!ids(promised).includes("first"), "a released one is not promised");
    },
  ),
  promise("of twenty hits at once a window takes as many as it may hold", async ({ storage, other }) => {
    const race = range(20).map((index) =>
      commit(either(index, storage, other), {
        writes: [
          { table: "limitHits", insert: hit(`h${index}`, 100 + index), atMost: { count: 7, since: 50 } },
        ],
      }),
    );
    const results = await Promise.all(race);
    assert.equal(results.filter((result) => result.ok).length, 7);
    assert.equal((await storage.limitWindow("a", "requests", 50)).count, 7);
  }),
  promise(
    "a window slides: what is as old as its beginning has left it and is removed",
    async ({ storage }) => {
      const take = (id: string, at: number, since: number, scope?: string) =>
        commit(storage, {
          writes: [{ table: "limitHits", insert: hit(id, at, scope), atMost: { count: 2, since } }],
        });
      assert.deepEqual(await take("1", 10, 0), ok);
      assert.deepEqual(await take("2", 20, 0), ok);
      assert.deepEqual(await take("3", 30, 9), refusedWrite(0));
      assert.deepEqual(await take("s", 30, 9, "payments"), ok, "another scope has its own window");
      assert.deepEqual(await storage.limitWindow("a", "requests", 9), { count: 2, oldest: 10 });
      assert.deepEqual(await storage.limitWindow("a", "requests", 10), { count: 1, oldest: 20 });
      assert.deepEqual(await take("3", 30, 10), ok);
      assert.deepEqual(
        await storage.limitWindow("a", "requests", -1),
        { count: 2, oldest: 20 },
        "the first is gone",
      );
      assert.deepEqual(await storage.limitWindow("a", "requests", 30), { count: 0, oldest: null });
      assert.deepEqual(await storage.limitWindow("b", "requests", 0), { count: 0, oldest: null });
      assert.deepEqual(await take("3", 40, 25), refusedWrite(0), "an id that is taken, though there is room");
    },
  ),
];

const reads: readonly StorageContractCase[] = [
  promise("what a purse has spent is told after a time, to the millisecond", async ({ storage, other }) => {
    const insert = (id: string, at: number, purse = "sponsor"): PaymentWrite => ({
      table: "spendings",
      insert: { id, purse, amount: 5n, at },
    });
    await put(storage, { writes: [insert("c", 30), insert("b", 20), insert("x", 25, "desk")] });
    await put(other, { writes: [insert("a", 30)] });
    assert.equal(await storage.spent("sponsor", 0), 15n);
    assert.equal(await other.spent("sponsor", 20), 10n);
    assert.equal(await storage.spent("sponsor", 30), 0n);
    assert.equal(await storage.spent("nobody", 0), 0n);
  }),
  promise("what is absent is null, or an empty list", async ({ storage }) => {
    const singles = [
      storage.fact("x"),
      storage.apiKey("x"),
      storage.quote("x"),
      storage.transaction("x"),
      storage.attemptLike("x", "y"),
      storage.idempotency("x"),
      storage.account("x"),
      storage.notice("x"),
      storage.webhook("x"),
      storage.decision("x"),
    ];
    assert.deepEqual(
      await Promise.all(singles),
      singles.map(() => null),
    );
    const lists = [
      storage.attempts(["x"]),
      storage.attempts([]),
      storage.notices("x"),
      storage.webhooks("x"),
      storage.apiKeysOf("x"),
      storage.accountsAfter("", 10),
      storage.deliveries("x"),
      storage.deliveryAttempts("x"),
    ];
    assert.deepEqual(
      await Promise.all(lists),
      lists.map(() => []),
    );
  }),
  promise(
    "a transaction is shown with its five hundred recipients, ordered by index",
    async ({ storage }) => {
      const recipient = (index: number) => ({ ...nullRows.recipients, id: `transaction:${index}`, index });
      const insert = (index: number): PaymentWrite => ({ table: "recipients", insert: recipient(index) });
      await put(storage, {
        writes: [
          { table: "transactions", insert: nullRows.transactions },
          ...range(500).toReversed().map(insert),
          { table: "recipients", insert: { ...recipient(0), id: "other:0", transactionId: "other" } },
        ],
      });
      const view = await storage.transaction("transaction");
      assert.deepEqual(view?.recipients, range(500).map(recipient));
    },
  ),
  promise(
    "attempts are found by their signatures, or by either of signature and message",
    async ({ storage }) => {
      const attempt = (id: string): PaymentTables["attempts"] => ({
        ...fullRows.attempts,
        id,
        messageHash: `of ${id}`,
      });
      await put(storage, { writes: ["a", "b"].map((id) => ({ table: "attempts", insert: attempt(id) })) });
      assert.deepEqual(ids(await storage.attempts(["b", "x", "a", "b"])).toSorted(), ["a", "b"]);
      assert.deepEqual(await storage.attemptLike("a", "of x"), attempt("a"));
      assert.deepEqual(await storage.attemptLike("x", "of b"), attempt("b"));
      assert.deepEqual(await storage.attemptLike("a", "of b"), attempt("a"));
    },
  ),
  promise("an API key without its account is nobody's", async ({ storage }) => {
    await put(storage, { writes: [{ table: "apiKeys", insert: fullRows.apiKeys }] });
    assert.equal(await storage.apiKey("key"), null);
  }),
  promise("an account's webhooks come oldest first without the deleted ones", async ({ storage }) => {
    const rows = [
      webhookOf("c", { createdAt: 3 }),
      webhookOf("a", { createdAt: 9 }),
      webhookOf("b", { createdAt: 3 }),
    ];
    await put(storage, {
      writes: [...rows, webhookOf("d", { deletedAt: 5 }), webhookOf("e", { accountId: "b" })].map(
        (insert) => ({
          table: "webhooks",
          insert,
        }),
      ),
    });
    assert.deepEqual(ids(await storage.webhooks("a")), ["b", "c", "a"]);
    assert.equal((await storage.webhook("d"))?.deletedAt, 5);
  }),
  promise("notices come as they were inserted, whatever their time", async ({ storage }) => {
    const notice = (id: string, createdAt: number): PaymentWrite => ({
      table: "notices",
      insert: { ...fullRows.notices, id, createdAt },
    });
    const elsewhere: PaymentWrite = {
      table: "notices",
      insert: { ...fullRows.notices, id: "x", transactionId: "x" },
    };
    await put(storage, { writes: [notice("z", 5), notice("m", 5), elsewhere, notice("a", 5)] });
    await put(storage, { writes: [notice("n", 4), { table: "notices", id: "z", set: { body: "{}" } }] });
    assert.deepEqual(ids(await storage.notices("transaction")), ["z", "m", "a", "n"]);
  }),
  promise(
    "deliveries come in the order in which they were made, their attempts by number",
    async ({ storage }) => {
      const delivery = (id: string, createdAt: number): PaymentWrite => ({
        table: "deliveries",
        insert: { ...fullRows.deliveries, id, createdAt },
      });
      const attempt = (number: number): PaymentWrite => ({
        table: "deliveryAttempts",
        insert: { ...fullRows.deliveryAttempts, id: `delivery:${number}`, number },
      });
      await put(storage, {
        writes: [delivery("b", 2), delivery("c", 1), delivery("a", 2), ...[10, 2, 1].map(attempt)],
      });
      assert.deepEqual(ids(await storage.deliveries("transaction")), ["b", "c", "a"]);
      assert.deepEqual(ids(await storage.deliveryAttempts("delivery")), [
        "delivery:1",
        "delivery:2",
        "delivery:10",
      ]);
    },
  ),
];

const volumeOf = (id: string, at: number, amount: bigint, scope = "s"): PaymentTables["volumes"] => ({
  id,
  scope,
  at,
  amount,
});

const operating: readonly StorageContractCase[] = [
  promise("abandoned deliveries are summed by webhook", async ({ storage, other }) => {
    const insert = (
      id: string,
      webhookId: string,
      createdAt: number,
      status: PaymentTables["deliveries"]["status"] = "abandoned",
    ): PaymentWrite => ({
      table: "deliveries",
      insert: { ...fullRows.deliveries, id, webhookId, createdAt, status },
    });
    await put(storage, {
      writes: [
        ...[insert("1", "w", 5), insert("2", "w", 3), insert("3", "v", 9), insert("4", "w", 1, "delivered")],
        ...[insert("5", "w", 99, "pending"), insert("6", "u", 7, "dropped")],
      ],
    });
    const v = { webhookId: "v", count: 1, oldest: 9, newest: 9 };
    assert.deepEqual(await other.abandonedDeliveries(9), [
      v,
      { webhookId: "w", count: 2, oldest: 3, newest: 5 },
    ]);
    assert.deepEqual(await other.abandonedDeliveries(1), [v]);
  }),
  promise(
    "deliveries are retried from their first failed attempt to their end",
    async ({ storage, other }) => {
      const insert = (
        id: string,
        attempts: number,
        status: PaymentTables["deliveries"]["status"] = "pending",
      ): PaymentWrite => ({ table: "deliveries", insert: { ...fullRows.deliveries, id, attempts, status } });
      await put(storage, {
        writes: [insert("1", 2), insert("2", 0), insert("3", 1), insert("4", 6, "abandoned")],
      });
      assert.deepEqual(ids(await other.retriedDeliveries(9)), ["3", "1"]);
      assert.deepEqual(ids(await other.retriedDeliveries(1)), ["3"]);
      assert.deepEqual(ids(await other.untriedDeliveries(9)), ["2"]);
    },
  ),
  promise("matters are open until their end was told, the oldest first", async ({ storage, other }) => {
    const insert = (
      id: string,
      since: number,
      state: PaymentTables["matters"]["state"] = "waiting",
    ): PaymentWrite => ({ table: "matters", insert: { ...fullRows.matters, id, since, state } });
    await put(storage, {
      writes: [insert("b", 2), insert("over", 0, "over"), insert("c", 1, "ending"), insert("a", 2)],
    });
    assert.deepEqual(ids(await other.openMatters(9)), ["c", "a", "b"]);
    assert.deepEqual(ids(await other.openMatters(2)), ["c", "a"]);
    assert.deepEqual(ids(await other.openMatters()), ["c", "a", "b"]);
    await put(storage, { writes: [{ table: "matters", id: "c", set: { state: "over" } }] });
    assert.deepEqual(ids(await other.openMatters(9)), ["a", "b"]);
    assert.deepEqual(ids(await other.matters(["c", "none", "c"])), ["c"]);
  }),
  promise(
    "of twenty amounts at once a window takes as much as it may, to the last unit",
    async ({ storage, other }) => {
      const huge = 2n ** 64n;
      await put(storage, {
        writes: [
          { table: "volumes", insert: volumeOf("first", 60, huge) },
          { table: "volumes", insert: volumeOf("others", 60, huge, "t") },
        ],
      });
      const take = (id: string, amount: bigint, from: PaymentStorage) =>
        commit(from, {
          writes: [
            { table: "volumes", insert: volumeOf(id, 100, amount), atMost: { total: huge + 75n, since: 50 } },
          ],
        });
      const race = range(20).map((index) => take(`v${index}`, 10n, either(index, storage, other)));
      const results = await Promise.all(race);
      assert.equal(results.filter((result) => result.ok).length, 7);
      assert.ok(results.every((result) => result.ok || result.conflict === "write"));
      assert.equal(await other.volume("s", 50), huge + 70n);
      assert.deepEqual(await take("six", 6n, other), refusedWrite(0));
      assert.deepEqual(await take("five", 5n, other), ok);
      assert.deepEqual(await take("one", 1n, storage), refusedWrite(0));
    },
  ),
  promise(
    "a sum slides: what is as old as its window's beginning counts no more, and is removed",
    async ({ storage }) => {
      const take = (id: string, at: number, since: number, total: bigint | null) =>
        commit(storage, {
          writes: [{ table: "volumes", insert: volumeOf(id, at, 10n), atMost: { total, since } }],
        });
      assert.deepEqual(await take("1", 10, 0, 20n), ok);
      assert.deepEqual(await take("2", 20, 0, 20n), ok);
      assert.deepEqual(await take("3", 30, 9, 20n), refusedWrite(0));
      assert.equal(await storage.volume("s", 9), 20n);
      assert.equal(await storage.volume("s", 10), 10n);
      assert.deepEqual(await take("3", 30, 10, 20n), ok);
      assert.equal(await storage.volume("s", -1), 20n, "the first is gone");
      assert.deepEqual(await take("4", 40, 10, null), ok, "without a total nothing is refused");
      assert.equal(await storage.volume("s", -1), 30n);
      assert.deepEqual(await take("5", 50, 40, null), ok);
      assert.equal(await storage.volume("s", -1), 10n, "and what is older is removed all the same");
      assert.equal(await storage.volume("none", -1), 0n);
    },
  ),
  promise("gates are listed by id, page by page", async ({ storage, other }) => {
    const insert = (id: string): PaymentWrite => ({
      table: "gates",
      insert: { ...fullRows.gates, id },
    });
    await put(storage, { writes: ["service", "account b", "account a"].map(insert) });
    assert.deepEqual(ids(await other.gatesAfter("", 2)), ["account a", "account b"]);
    assert.deepEqual(ids(await other.gatesAfter("account b", 2)), ["service"]);
    assert.deepEqual(await other.gates([]), []);
  }),
  promise("the audit log is read in the order of its commits, page by page", async ({ storage, other }) => {
    // Neither ids nor times tell the order: clocks of several processes differ.
    const insert = (id: string, at: number): PaymentWrite => ({
      table: "audit",
      insert: { ...fullRows.audit, id, at },
    });
    await put(storage, { writes: [insert("c", 9), insert("a", 3)] });
    await put(other, { writes: [insert("b", 5)] });
    assert.deepEqual(ids((await storage.audit(null, 9)) ?? []), ["c", "a", "b"]);
    assert.deepEqual(ids((await other.audit(null, 2)) ?? []), ["c", "a"]);
    assert.deepEqual(ids((await storage.audit("a", 9)) ?? []), ["b"]);
    assert.deepEqual(await storage.audit("b", 9), []);
    assert.equal(await storage.audit("none", 9), null);
  }),
];

/** Reads and counted inserts. */
export const readCases: readonly StorageContractCase[] = [...counted, ...reads, ...operating];
