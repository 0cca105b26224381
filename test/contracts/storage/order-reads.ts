/** The storage contract on the reads of private mode. */
// modules: private
import assert from "node:assert/strict";
import type { PaymentWrite } from "../../../src/payments/payment-storage.ts";
import type { OrderRecord } from "../../../src/payments/private/tables.ts";
import { promise, type StorageContractCase } from "./contract.ts";
import { asAddress } from "./extremes.ts";
import { fullRows } from "./rows.ts";
import { ids, put } from "./samples.ts";

export const orderReadCases: readonly StorageContractCase[] = [
  promise("all orders are read page by page, each once, in the order of their ids", async ({ storage }) => {
    const names = ["b", "B", "a", "Z", "z", "1"];
    const order = (id: string): OrderRecord => ({ ...fullRows.orders, id, address: asAddress(id) });
    assert.deepEqual(await storage.ordersAfter("", 10), []);
    await put(storage, { writes: names.map((id) => ({ table: "orders", insert: order(id) })) });
    const first = await storage.ordersAfter("", 4);
    assert.deepEqual(ids(first), ["1", "B", "Z", "a"]);
    assert.deepEqual(ids(await storage.ordersAfter("a", 4)), ["b", "z"]);
    assert.deepEqual(await storage.ordersAfter("z", 4), []);
    assert.deepEqual(first[0], order("1"));
    assert.deepEqual(await storage.orderAt(asAddress("Z")), order("Z"));
    assert.equal(await storage.orderAt(asAddress("x")), null);
  }),
  promise("holds that nobody has ended are listed, the oldest first", async ({ storage, other }) => {
    const insert = (id: string, since: number, endedAt: number | null): PaymentWrite => ({
      table: "holds",
      insert: { ...fullRows.holds, id, order: id, since, endedAt },
    });
    await put(storage, {
      writes: [insert("b", 2, null), insert("free", 0, 7), insert("c", 1, null), insert("a", 2, null)],
    });
    assert.deepEqual(ids(await other.openHolds(9)), ["c", "a", "b"]);
    assert.deepEqual(ids(await other.openHolds(1)), ["c"]);
    assert.deepEqual(ids(await other.openHolds(9, { since: 2, id: "a" })), ["b"]);
    await put(storage, { writes: [{ table: "holds", id: "a", set: { endedAt: 8 } }] });
    assert.deepEqual(ids(await other.openHolds(9)), ["c", "b"]);
  }),
  promise(
    "an order is read with its rows alone, of several orders in the order given",
    async ({ storage }) => {
      const rows = (id: string): readonly PaymentWrite[] => [
        { table: "orders", insert: { ...fullRows.orders, id, address: asAddress(id) } },
        ...[1, 0].map((k): PaymentWrite => ({
          table: "chunks",
          insert: { ...fullRows.chunks, id: `${id}:${k}`, order: id, k },
        })),
        { table: "transfers", insert: { ...fullRows.transfers, id: `${id} transfer`, order: id } },
        { table: "levels", insert: { ...fullRows.levels, id: `${id} level`, order: id } },
        { table: "deposits", insert: { ...fullRows.deposits, id: `${id} deposit`, order: id } },
        { table: "holds", insert: { ...fullRows.holds, id: `${id} hold`, order: id } },
        { table: "acts", insert: { ...fullRows.acts, id: `${id} act`, order: id } },
      ];
      await put(storage, { writes: ["a", "b"].flatMap(rows) });
      const views = await storage.orderViews(["b", "gone", "a"]);
      const shown = views.map(({ order, ...own }) => [
        order.id,
        ...Object.values(own).map((each) => ids(each)),
      ]);
      const of = (id: string): unknown[] => [
        id,
        [`${id}:0`, `${id}:1`],
        ...["transfer", "level", "deposit", "hold", "act"].map((name) => [`${id} ${name}`]),
      ];
      assert.deepEqual(shown, [of("b"), of("a")]);
    },
  ),
];
