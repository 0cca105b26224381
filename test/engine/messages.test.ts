/** Machines that start each other and tell each other: messages arrive once, late ones come back. */
import { setup } from "xstate";
import { expect } from "vitest";
import { workflow, type TellParams } from "paystate/engine";
import { gate, until } from "../kit/engine-world.ts";
import { family } from "./family.ts";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;

const { test, engine, running, storage, settled, pass, awaitsOutside } = engineTest("messages");

test("a parent starts 40 children, one fails, and each tells it once", async () => {
  const [parent, child] = family(async ({ id }) => ({
    event: { type: id === "payroll/17" ? "BROKE" : "DONE" },
  }));
  const { start, read } = await running({ workflows: [parent, child] });
  expect(await start(parent, { id: "payroll", input: { id: "payroll", children: 40 } })).toEqual({
    ok: true,
  });
  await settled();
  expect(await read("payroll")).toMatchObject({
    value: "settled",
    status: "done",
    context: { started: 40, paid: 39, failed: 1 },
  });
  await pass(MINUTE);
  expect(await read("payroll/16")).toMatchObject({ value: "paid" });
  expect(await read("payroll/17")).toMatchObject({ value: "failed" });
  const steps = await storage.history("payroll", { after: 0, limit: 100 });
  expect(
    steps
      .slice(1)
      .map(({ event }) => (JSON.parse(event) as { child: string }).child)
      .toSorted(),
  ).toEqual(Array.from({ length: 40 }, (_, index) => `payroll/${index}`).toSorted());
});

test.each([
  { type: "DONE", way: "comes back as otherwise", value: "orphaned" },
  { type: "BROKE", way: "is dropped where there is no otherwise", value: "failed" },
] as const)("what is told after the parent's end $way", async ({ type, value }) => {
  const working = gate();
  const [parent, child] = family(() => working.opened.then(() => ({ event: { type } })));
  const { start, send, read } = await running({ workflows: [parent, child] });
  await start(parent, { id: "p", input: { id: "p", children: 1 } });
  await send(parent, "p", { type: "CLOSE" });
  working.open();
  await settled();
  expect(await read("p")).toMatchObject({ value: "closed", status: "done" });
  expect(await read("p/0")).toMatchObject({ value, status: "done" });
  expect(await storage.nextDue([parent.key, child.key])).toBeNull();
});

test("a message to somebody who is not there yet waits with growing pauses and is not lost", async () => {
  const [parent, child] = family(async ({ id }) =>
    id === "early" ? { event: { type: "DONE" } } : undefined,
  );
  const { start, read } = await running({ workflows: [parent, child] });
  await start(child, { id: "early", input: { id: "early", parent: "late" } });
  await pass(5_000);
  await start(parent, { id: "late", input: { id: "late", children: 1 } });
  await settled();
  expect(await read("late")).toMatchObject({ value: "waiting" });
  await pass(MINUTE);
  expect(await read("late")).toMatchObject({ value: "settled", context: { paid: 1 } });
  awaitsOutside("late/0");
});

test("two that tell each other go back and forth without a deadlock", async () => {
  const chart = setup({
    types: {
      context: {} as { other: string; left: number },
      input: {} as { other: string; left: number },
      events: {} as { type: "BALL"; left: number },
    },
    actions: { tell: (_, _params: TellParams) => {} },
    guards: { goesOn: (_, { left }: { left: number }) => left > 0 },
  }).createMachine({
    id: "player",
    context: ({ input }) => input,
    initial: "playing",
    states: {
      playing: {
        on: {
          BALL: {
            guard: { type: "goesOn", params: ({ event }) => ({ left: event.left }) },
            actions: {
              type: "tell",
              params: ({ context, event }) => ({
                machine: "player",
                id: context.other,
                event: { type: "BALL", left: event.left - 1 },
              }),
            },
          },
        },
      },
    },
  });
  const player = workflow(chart)({ version: 1, effects: {} });
  const { run, start, send, subscribe } = await engine(player);
  let steps = 0;
  subscribe(({ commit }) => {
    if (commit.step !== undefined) steps += 1;
  });
  run();
  await start(player, { id: "a", input: { other: "b", left: 0 } });
  await start(player, { id: "b", input: { other: "a", left: 0 } });
  await send(player, "a", { type: "BALL", left: 20 });
  await until(() => steps === 20);
  await settled();
  awaitsOutside("a", "b");
});
