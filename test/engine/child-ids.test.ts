/** The ids of children belong to their parents: whoever has one already keeps it, and the child takes another. */
import { expect } from "vitest";
import { assign, createMachine, enqueueActions, fromPromise, sendTo, setup } from "xstate";
import { workflow } from "paystate/engine";
import { engineTest } from "../kit/engine-test.ts";

/** Ends when it is told to, and says which one it was. */
const pay = setup({ types: { events: {} as { type: "PAY" } } }).createMachine({
  id: "pay",
  initial: "waiting",
  states: { waiting: { on: { PAY: "paid" } }, paid: { type: "final" } },
  output: "paid",
});

/** Has one child from the beginning, under the id that it is given. */
const order = (child: string, logic = pay) =>
  setup({
    types: { context: {} as { heard: unknown }, events: {} as { type: "PAY" } },
    actors: { pay: logic },
  }).createMachine({
    id: `order of ${child}`,
    context: { heard: null },
    initial: "open",
    states: {
      open: {
        invoke: {
          src: "pay",
          id: child,
          onDone: { target: "done", actions: assign({ heard: ({ event }) => event.output }) },
        },
        on: { PAY: { actions: sendTo(child, { type: "PAY" }) } },
      },
      done: { type: "final" },
    },
  });

const payments = workflow(pay)({ version: 1 });
const orders = workflow(order("pay"))({ version: 1 });

const { test, running, storage, settled, awaitsOutside } = engineTest("child ids");

test("D19: an instance of a host that has the id of a child blocks nobody, and keeps it", async () => {
  const one = await running({ workflows: [orders, payments] });
  await one.start(payments, { id: "order-1/pay", input: undefined });
  expect(await one.start(orders, { id: "order-1", input: undefined })).toEqual({ ok: true });
  expect(await one.read("order-1/pay~2")).toMatchObject({ parent: { instance: "order-1", run: 2 } });
  await one.send(orders, "order-1", { type: "PAY" });
  await settled();
  expect(await one.read("order-1")).toMatchObject({ status: "done", context: { heard: "paid" } });
  expect(await one.read("order-1/pay")).toMatchObject({ status: "active", value: "waiting" });
  awaitsOutside("order-1/pay");
});

test("D19: a child may be called as a property of every object is, except __proto__, which is refused", async () => {
  const odd = workflow(order("constructor"))({ version: 1 });
  const refused = workflow(order("__proto__"))({ version: 1 });
  const one = await running({ workflows: [odd, refused] }, "o");
  expect(await one.read("o/constructor")).toMatchObject({ parent: { instance: "o", run: 1 } });
  await one.send(odd, "o", { type: "PAY" });
  await settled();
  expect(await one.read("o")).toMatchObject({ status: "done", context: { heard: "paid" } });
  await expect(one.start(refused, { id: "r", input: undefined })).rejects.toThrow(
    "a child cannot have the id __proto__",
  );
  expect(await storage.load("r")).toBeNull();
});

test("D19: a grandchild whose id is taken begins under another, whoever starts the family", async () => {
  const inner = order("pay");
  const outer = workflow(
    setup({ types: { events: {} as { type: "GO" } }, actors: { inner } }).createMachine({
      id: "outer",
      initial: "idle",
      states: {
        idle: { on: { GO: "working" } },
        working: { invoke: { src: "inner", id: "in" }, on: { GO: "idle" } },
      },
    }),
  )({ version: 1 });
  const one = await running({ workflows: [outer, payments] });
  await one.start(payments, { id: "o/in/pay", input: undefined });
  await one.start(outer, { id: "o", input: undefined });
  expect(await one.send(outer, "o", { type: "GO" })).toMatchObject({ kind: "stepped" });
  expect(await one.read("o/in/pay~2")).toMatchObject({ parent: { instance: "o/in" } });
  await settled();
  awaitsOutside("o", "o/in", "o/in/pay", "o/in/pay~2");
});

test("D18: children that have ended leave the snapshot of their parent, and their ids can be used again", async () => {
  const brief = createMachine({ id: "brief", initial: "over", states: { over: { type: "final" } } });
  const host = workflow(
    setup({
      types: {
        context: {} as { ended: number },
        events: {} as { type: "SPAWN"; ids: string[] } | { type: "POKE"; id: string },
      },
      actors: { brief, later: fromPromise(async () => 1) },
    }).createMachine({
      id: "host",
      context: { ended: 0 },
      on: {
        SPAWN: {
          actions: enqueueActions(({ enqueue, event }) => {
            for (const id of event.ids) {
              enqueue.spawnChild(id.startsWith("p") ? "later" : "brief", { id });
            }
          }),
        },
        POKE: { actions: sendTo(({ event }) => event.id, { type: "POKE" }) },
        "*": {
          guard: ({ event }) => event.type.startsWith("xstate.done.actor."),
          actions: assign({ ended: ({ context }) => context.ended + 1 }),
        },
      },
    }),
  )({ version: 1 });
  const one = await running(host, "h");
  const first = (await storage.load("h"))?.snapshot.length ?? 0;
  for (let round = 0; round < 20; round++) {
    const ids = Array.from({ length: 10 }, (_, index) => `${index % 5 === 0 ? "p" : "m"}${round}-${index}`);
    await one.send(host, "h", { type: "SPAWN", ids });
    await settled();
  }
  const record = await storage.load("h");
  expect(await one.read("h")).toMatchObject({ context: { ended: 200 } });
  expect(record?.snapshot.length).toBeLessThanOrEqual(first + '"ended":200'.length);
  // As in XState, what is sent to one that has ended is dropped.
  expect(await one.send(host, "h", { type: "POKE", id: "m1-1" })).toMatchObject({ kind: "stepped" });
  expect((await one.pending("h")).tasks).toEqual([]);
  await one.send(host, "h", { type: "SPAWN", ids: ["m1-1", "m1-2", "new"] });
  await settled();
  expect(await one.read("h")).toMatchObject({ context: { ended: 203 } });
  expect(await one.read("h/m1-1~2")).toMatchObject({ status: "done" });
  expect(await one.read("h/new")).toMatchObject({ status: "done" });
  awaitsOutside("h");
});
