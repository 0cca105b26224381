/** The engine's promises, on the reference storage and a virtual clock. */
import { assign, setup } from "xstate";
import { describe, expect, test } from "vitest";
import { createEngine, workflow } from "paystate/engine";
import { memoryStorage } from "../kit/storages.ts";
import { passTime } from "../kit/pass-time.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";

const DAY = 24 * 60 * 60_000;

const order = setup({
  types: {
    context: {} as { orderId: string; reminders: number },
    input: {} as { orderId: string },
    events: {} as { type: "PAY" } | { type: "SHIPPED"; parcel: string } | { type: "CANCEL" },
  },
  actions: {
    remind: (_, _params: { orderId: string; number: number }) => {},
    ship: (_, _params: { orderId: string }) => {},
    thank: (_, _params: { orderId: string }) => {},
  },
  delays: { reminder: DAY },
}).createMachine({
  id: "order",
  context: ({ input }) => ({ orderId: input.orderId, reminders: 0 }),
  initial: "unpaid",
  states: {
    unpaid: {
      after: {
        reminder: {
          target: "unpaid",
          reenter: true,
          actions: [
            assign({ reminders: ({ context }) => context.reminders + 1 }),
            {
              type: "remind",
              params: ({ context }) => ({ orderId: context.orderId, number: context.reminders }),
            },
          ],
        },
      },
      on: { PAY: "shipping", CANCEL: "cancelled" },
    },
    shipping: {
      entry: { type: "ship", params: ({ context }) => ({ orderId: context.orderId }) },
      on: { SHIPPED: "done" },
    },
    done: {
      type: "final",
      entry: { type: "thank", params: ({ context }) => ({ orderId: context.orderId }) },
    },
    cancelled: { type: "final" },
  },
});

interface Ran {
  readonly effect: string;
  readonly at: number;
}

async function orderShop(given?: PaymentStorage, clock = virtualClock()) {
  const storage = given ?? (await memoryStorage());
  const ran: Ran[] = [];
  const note = (effect: string): void => void ran.push({ effect, at: clock.now() });
  const orders = workflow(order)({
    version: 1,
    effects: {
      remind: async ({ number }) => {
        note(`remind ${number}`);
        return undefined;
      },
      ship: async () => {
        note("ship");
        return { event: { type: "SHIPPED", parcel: "p1" } };
      },
      thank: async () => {
        note("thank");
        return undefined;
      },
    },
  });
  const engine = createEngine({ storage, workflows: [orders], clock, logger: silentLogger });
  const pass = (ms: number): Promise<void> =>
    passTime({ clock, engine, storage, workflows: [orders] }, clock.now() + ms);
  return { storage, clock, engine, orders, ran, pass };
}

describe("an order runs to its end", () => {
  test("effects, timers and events follow each other, each exactly once", async () => {
    const { engine, orders, ran, pass, clock, storage } = await orderShop();
    const began = clock.now();
    engine.run();
    expect(await engine.start(orders, { id: "o1", input: { orderId: "o1" } })).toEqual({ ok: true });
    await pass(2 * DAY);
    await engine.send(orders, "o1", { type: "PAY" });
    await engine.settled();
    expect(await engine.read("o1")).toMatchObject({ value: "done", status: "done" });
    expect(ran).toEqual([
      { effect: "remind 1", at: began + DAY },
      { effect: "remind 2", at: began + 2 * DAY },
      { effect: "ship", at: began + 2 * DAY },
      { effect: "thank", at: began + 2 * DAY },
    ]);
    const history = await storage.history("o1", { after: 0, limit: 100 });
    expect(history.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5]);
    expect(await storage.nextDue([orders.key])).toBeNull();
    await engine.stop();
  });

  test("I5: a timer that was left behind never fires", async () => {
    const { engine, orders, ran, pass } = await orderShop();
    engine.run();
    await engine.start(orders, { id: "o1", input: { orderId: "o1" } });
    await engine.send(orders, "o1", { type: "CANCEL" });
    await pass(10 * DAY);
    expect(ran).toEqual([]);
    await engine.stop();
  });

  test("an event the chart has nothing to do with writes nothing", async () => {
    const { engine, orders, storage } = await orderShop();
    await engine.start(orders, { id: "o1", input: { orderId: "o1" } });
    const sent = await engine.send(orders, "o1", { type: "SHIPPED", parcel: "p" });
    expect(sent.kind).toBe("unchanged");
    expect((await storage.load("o1"))?.version).toBe(1);
  });

  test("of 50 racing senders of one event exactly one moves the instance", async () => {
    const { engine, orders, ran } = await orderShop();
    engine.run();
    await engine.start(orders, { id: "o1", input: { orderId: "o1" } });
    const sent = await Promise.all(
      Array.from({ length: 50 }, () => engine.send(orders, "o1", { type: "PAY" })),
    );
    expect(sent.filter(({ kind }) => kind === "stepped")).toHaveLength(1);
    await engine.settled();
    expect(ran.filter(({ effect }) => effect === "ship")).toHaveLength(1);
    await engine.stop();
  });
});
