/** The storage contract on lists that are read in pages. */
import assert from "node:assert/strict";
import type { PaymentTables } from "../../../storage/records.ts";
import type { Place, PaymentStorage, PaymentWrite } from "../../../storage/storage.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { nullRows } from "./rows.ts";
import { ids, put, range } from "./samples.ts";

const transaction = (id: string, changes: Partial<PaymentTables["transactions"]> = {}): PaymentWrite => ({
  table: "transactions",
  insert: { ...nullRows.transactions, id, accountId: "a", ...changes },
});

/** The whole list, page by page. */
async function pagesOf(
  read: (below: Place | null) => Promise<readonly Place[]>,
): Promise<readonly (readonly string[])[]> {
  const pages: string[][] = [];
  let below: Place | null = null;
  for (;;) {
    const page: readonly Place[] = await read(below);
    if (page.length === 0) return pages;
    pages.push(ids(page));
    below = page.at(-1) ?? null;
  }
}

const transactions: readonly StorageContractCase[] = [
  promise("an account's transactions come newest first, page by page, each once", async ({ storage }) => {
    const times = { a: 5, b: 5, c: 9, d: 5, e: 1, f: Number.MAX_SAFE_INTEGER };
    const rows = Object.entries(times).map(([id, createdAt]) => transaction(id, { createdAt }));
    await put(storage, { writes: [...rows, transaction("other", { accountId: "b", createdAt: 6 })] });
    const read = (below: Place | null) => storage.transactionsOf("a", null, { below, limit: 2 });
    assert.deepEqual(await pagesOf(read), [
      ["f", "c"],
      ["d", "b"],
      ["a", "e"],
    ]);
    assert.deepEqual(ids(await storage.transactionsOf("b", null, { below: null, limit: 9 })), ["other"]);
    assert.deepEqual(await storage.transactionsOf("nobody", null, { below: null, limit: 9 }), []);
    // A time alone is a place, too: no id is empty.
    const before = { below: { createdAt: 5, id: "" }, limit: 9 };
    assert.deepEqual(ids(await storage.transactionsOf("a", null, before)), ["e"]);
  }),
  promise(
    "they are found by status, by reference and by recipient, in the same order",
    async ({ storage }) => {
      const recipient = (id: string, address: string, createdAt: number, accountId = "a"): PaymentWrite => ({
        table: "recipients",
        insert: {
          ...nullRows.recipients,
          ...{ id: `${id}:${address}`, transactionId: id, accountId, createdAt, address },
        },
      });
      await put(storage, {
        writes: [
          transaction("p", { createdAt: 1, status: "pending", reference: "order" }),
          transaction("q", { createdAt: 2, status: "pending" }),
          transaction("r", { createdAt: 3, status: "failed", reference: "order" }),
          transaction("x", { accountId: "b", createdAt: 4, status: "pending", reference: "order" }),
          ...[recipient("p", "ann", 1), recipient("p", "bob", 1), recipient("q", "bob", 2)],
          ...[recipient("r", "ann", 3), recipient("x", "ann", 4, "b")],
        ],
      });
      const found = async (only: Parameters<PaymentStorage["transactionsOf"]>[1]): Promise<unknown> =>
        pagesOf((below) => storage.transactionsOf("a", only, { below, limit: 1 }));
      assert.deepEqual(await found({ status: "pending" }), [["q"], ["p"]]);
      assert.deepEqual(await found({ status: "completed" }), []);
      assert.deepEqual(await found({ reference: "order" }), [["r"], ["p"]]);
      assert.deepEqual(await found({ reference: "" }), []);
      assert.deepEqual(await found({ recipient: "ann" }), [["r"], ["p"]]);
      assert.deepEqual(await found({ recipient: "bob" }), [["q"], ["p"]]);
      await put(storage, { writes: [{ table: "transactions", id: "q", set: { status: "completed" } }] });
      assert.deepEqual(await found({ status: "pending" }), [["p"]]);
    },
  ),
  promise("what is added above a page moves nothing on the pages below it", async ({ storage, other }) => {
    await put(storage, { writes: range(4).map((at) => transaction(`t${at}`, { createdAt: at })) });
    const first = await storage.transactionsOf("a", null, { below: null, limit: 2 });
    await put(other, { writes: [transaction("new", { createdAt: 9 })] });
    const below = first.at(-1) ?? null;
    assert.deepEqual(ids(await storage.transactionsOf("a", null, { below, limit: 2 })), ["t1", "t0"]);
  }),
];

/** Lists in pages. */
export const listCases: readonly StorageContractCase[] = [...transactions];
