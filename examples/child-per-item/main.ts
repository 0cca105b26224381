/**
 * A child for each item: `npx tsx examples/child-per-item/main.ts [orders.db]`.
 *
 * An order spawns a machine for each of its items, which are packed side by side. The order ends when all are packed. Every child is an instance of its own, which can be listed, stopped and killed with its parent at any moment.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { assign, enqueueActions, fromPromise, sendParent, setup } from "xstate";
import { createEngine, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";

const packing = setup({
  types: { context: {} as { item: string }, input: {} as { item: string } },
  actors: {
    fetch: fromPromise<void, { item: string }>(async ({ input }) => {
      await setTimeout(50 * input.item.length); // the way to the shelf
      console.log(`${input.item} is in the box`);
    }),
  },
}).createMachine({
  context: ({ input }) => input,
  initial: "fetching",
  states: {
    fetching: { invoke: { src: "fetch", input: ({ context }) => context, onDone: "packed" } },
    packed: { type: "final", entry: sendParent(({ context }) => ({ type: "PACKED", item: context.item })) },
  },
});

const order = setup({
  types: {
    context: {} as { items: readonly string[]; packed: readonly string[] },
    input: {} as { items: readonly string[] },
    output: {} as readonly string[],
    events: {} as { type: "PACKED"; item: string },
  },
  actors: { packing },
}).createMachine({
  id: "order",
  context: ({ input }) => ({ items: input.items, packed: [] }),
  initial: "packing",
  states: {
    packing: {
      entry: enqueueActions(({ context, enqueue }) => {
        for (const item of context.items) enqueue.spawnChild("packing", { id: item, input: { item } });
      }),
      on: {
        PACKED: { actions: assign({ packed: ({ context, event }) => [...context.packed, event.item] }) },
      },
      always: { guard: ({ context }) => context.packed.length === context.items.length, target: "sent" },
    },
    sent: { type: "final" },
  },
  output: ({ context }) => context.packed,
});

const orders = workflow(order)({ version: 1 });
const path = process.argv[2] ?? join(mkdtempSync(join(tmpdir(), "orders-")), "orders.db");
const storage = await sqliteStorage(path);
const engine = createEngine({ storage, workflows: [orders], leaseMs: 1_000 });
engine.run();

await engine.start(orders, { id: "order-1", input: { items: ["lamp", "bookshelf", "rug"] } });
const { children } = await engine.pending("order-1");
for (const { id, instance } of children) console.log(`${id} is ${instance}`);
const { output } = await engine.waitFor(orders, "order-1", "final");
console.log(`sent: ${output?.toSorted().join(", ")}`);

await engine.stop();
await storage.close();
