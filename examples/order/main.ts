/**
 * A durable order, and not a payment in sight: `npx tsx examples/order/main.ts [orders.db]`.
 *
 * The customer pays after the first reminder. Stop the program at any moment, with Ctrl-C, kill -9 or the power switch,
 * and start it again on the same file: it goes on where it was, and says nothing twice that it was done saying.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { order } from "./order.ts";

const ORDER_ID = "order-1";
const PATIENCE_MS = 2_000;

const path = process.argv[2] ?? join(mkdtempSync(join(tmpdir(), "orders-")), "orders.db");
const storage = await sqliteStorage(path);

const orders = workflow(order)({
  version: 1,
  effects: {
    remind: async ({ orderId, number }) => {
      console.log(`reminder ${number}: ${orderId} is waiting to be paid`);
      // Stands for the customer, who finds the reminder and pays.
      return { event: { type: "PAY" } };
    },
    pack: async ({ orderId }) => {
      console.log(`${orderId} is being packed`);
      return { event: { type: "PACKED", parcel: "parcel-7" } };
    },
    thank: async ({ orderId, parcel }) => {
      console.log(`thank you: ${orderId} is on its way as ${parcel}`);
      return undefined;
    },
  },
});

const engine = createEngine({ storage, workflows: [orders] });
const ended = new Promise<void>((resolve) => {
  // The end is reached when the last effect of the final state is done, which is a commit of its own.
  engine.subscribe(({ commit }) => {
    if (commit.step !== undefined) console.log(`state: ${stateIn(commit.step.snapshot)}`);
    void storage.nextDue([orders.key]).then((due) => due === null && resolve());
  });
});

console.log(`orders are kept in ${path}`);
const known = await engine.read(orders, ORDER_ID);
if (known === null) {
  await engine.start(orders, { id: ORDER_ID, input: { orderId: ORDER_ID, patienceMs: PATIENCE_MS } });
  console.log(`${ORDER_ID} is placed; a reminder follows in ${PATIENCE_MS} ms`);
} else {
  console.log(`${ORDER_ID} goes on, state: ${known.value}`);
}

if ((await storage.nextDue([orders.key])) !== null) {
  engine.run();
  await ended;
}
await engine.stop();
await storage.close();
console.log(`${ORDER_ID} has come to its end`);

function stateIn(snapshot: string): string {
  return String((JSON.parse(snapshot) as { value: unknown }).value);
}
