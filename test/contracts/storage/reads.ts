/** The storage contract on the named reads, and on the inserts that count before they insert. */
import assert from "node:assert/strict";
import type { PaymentTables, PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { fullRows, nullRows } from "./rows.ts";
import { commit, either, hit, ids, ok, put, range, refusedWrite, webhookOf } from "./samples.ts";

const counted: readonly StorageContractCase[] = [
  // modules: webhooks
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
];

const volumeOf = (id: string, at: number, amount: bigint, scope = "s"): PaymentTables["volumes"] => ({
  id,
  scope,
  at,
  amount,
});

const operating: readonly StorageContractCase[] = [
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
