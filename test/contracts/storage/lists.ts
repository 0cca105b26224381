/** The storage contract on lists that are read in pages. */
import assert from "node:assert/strict";
import type { PaymentTables, PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import type { ListKey } from "../../../src/payments/frame/tables/read.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { asAddress } from "./extremes.ts";
import { nullRows } from "./rows.ts";
import { ids, put } from "./samples.ts";

const transaction = (id: string, changes: Partial<PaymentTables["transactions"]> = {}): PaymentWrite => ({
  table: "transactions",
  insert: { ...nullRows.transactions, id, accountId: "a", ...changes },
});

/** The whole list, page by page. */
async function pagesOf(
  read: (below: ListKey | null) => Promise<readonly ListKey[]>,
): Promise<readonly (readonly string[])[]> {
  const pages: string[][] = [];
  let below: ListKey | null = null;
  for (;;) {
    const page: readonly ListKey[] = await read(below);
    if (page.length === 0) return pages;
    const isNew = pages.flat().every((id) => !ids(page).includes(id));
    assert.ok(isNew, `a page holds what was told before: ${ids(page).join(", ")}`);
    pages.push(ids(page));
    below = page.at(-1) ?? null;
  }
}

const transactions: readonly StorageContractCase[] = [
  promise(
    "they are found by status, by reference and by recipient, in the same order",
    async ({ storage }) => {
      const recipient = (id: string, address: string, createdAt: number, accountId = "a"): PaymentWrite => ({
        table: "recipients",
        insert: {
          ...nullRows.recipients,
          id: `${id}:${address}`,
          transactionId: id,
          accountId,
          createdAt,
          address: asAddress(address),
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
      assert.deepEqual(await found({ recipient: asAddress("ann") }), [["r"], ["p"]]);
      assert.deepEqual(await found({ recipient: asAddress("bob") }), [["q"], ["p"]]);
      await put(storage, { writes: [{ table: "transactions", id: "q", set: { status: "completed" } }] });
      assert.deepEqual(await found({ status: "pending" }), [["p"]]);
    },
  ),
];

const others: readonly StorageContractCase[] = [
  // modules: webhooks
  promise(
    "a list of events grows at its end only, whatever the times say, and is read both ways",
    async ({ storage, other }) => {
      const told = (id: string, at: number, accountId = "a"): PaymentWrite => ({
        table: "announcements",
        insert: { id, accountId, at },
      });
      const read = async (order: "asc" | "desc", beyond: string | null, limit = 2): Promise<string[]> =>
        ids(await other.announcements("a", { order, beyond, limit }));
      assert.deepEqual(await read("asc", null), []);
      await put(storage, { writes: [told("m", 9), told("x", 1, "b"), told("b", 5)] });
      await put(storage, { writes: [told("z", 2), told("a", 9)] });
      assert.deepEqual(
        [await read("asc", null), await read("asc", "b")],
        [
          ["m", "b"],
          ["z", "a"],
        ],
      );
      assert.deepEqual(
        [await read("desc", null), await read("desc", "z")],
        [
          ["a", "z"],
          ["b", "m"],
        ],
      );
      assert.deepEqual([await read("asc", "a"), await read("desc", "m")], [[], []]);
      // Beyond another account's row lies nothing, nor beyond one that there is not.
      assert.deepEqual(
        [await read("asc", "x"), await read("desc", "x"), await read("asc", "0")],
        [[], [], []],
      );
      await put(storage, { writes: [told("new", 0)] });
      assert.deepEqual(await read("asc", "a"), ["new"]);
    },
  ),
];

/** Lists in pages. */
export const listCases: readonly StorageContractCase[] = [...transactions, ...others];
