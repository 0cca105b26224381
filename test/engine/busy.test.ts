/** What an engine spares itself while it is busy changes no answer: reads, claims and places. */
import { assign, setup } from "xstate";
import { expect } from "vitest";
import { workflow } from "paystate/engine";
import { gate, turns, until } from "../kit/engine-world.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

/** Opened, then closed: each event counts in one state only. */
const door = workflow(
  setup({ types: { events: {} as { type: "OPEN" } | { type: "CLOSE" } } }).createMachine({
    id: "door",
    initial: "closed",
    states: {
      closed: { on: { OPEN: "open" } },
      open: { on: { CLOSE: "locked" } },
      locked: { type: "final" },
    },
  }),
)({ version: 1, effects: {} });

const chain = setup({
  types: {
    context: {} as { readonly left: number },
    input: {} as { readonly left: number },
    events: {} as { type: "WORKED" },
  },
  actions: { work: (_, _params: { readonly left: number }) => {} },
  guards: { isLast: ({ context }) => context.left <= 1 },
}).createMachine({
  id: "chain",
  context: ({ input }) => input,
  initial: "working",
  states: {
    working: {
      entry: { type: "work", params: ({ context }) => ({ left: context.left }) },
      on: {
        WORKED: [
          { guard: "isLast", target: "done" },
          { target: "working", reenter: true, actions: assign({ left: ({ context }) => context.left - 1 }) },
        ],
      },
    },
    done: { type: "final" },
  },
});

const { test, engine, running, storage, open, settled, awaitsOutside } = engineTest("busy");

test("a step from a state that another process has since left is decided anew", async () => {
  const [one, other] = [await engine(door), await engine(door)];
  await one.start(door, { id: "d", input: undefined });
  await other.send(door, "d", { type: "OPEN" });
  // To the door that `one` knows it would be a step.
  expect(await one.send(door, "d", { type: "OPEN" })).toMatchObject({ kind: "unchanged" });
  expect(await storage.load("d")).toMatchObject({ version: 2 });
  await one.send(door, "d", { type: "CLOSE" });
});

test("steps that follow from each other are neither read nor claimed, even with a single place", async () => {
  const asked: string[] = [];
  const counting = await open((real) => ({
    load(id) {
      asked.push(`load ${id}`);
      return real.load(id);
    },
    async claim(request) {
      const tasks = await real.claim(request);
      asked.push(...tasks.map(({ id }) => `claim ${id}`));
      return tasks;
    },
  }));
  const chains = workflow(chain)({
    version: 1,
    effects: { work: async () => ({ event: { type: "WORKED" } }) },
  });
  const busy = await running({ workflows: [chains], storage: counting, slots: 1 });
  await busy.settled();
  let isDone = false;
  busy.subscribe(({ commit: { step } }) => (isDone = step?.status === "done"));
  await busy.start(chains, { id: "c", input: { left: 20 } });
  await until(() => isDone);
  expect(asked).toEqual([]);
});

test("G6: an endless chain leaves its only place to whatever else is due", async () => {
  let isOtherDone = false;
  const chains = workflow(chain)({
    version: 1,
    effects: {
      work: async (_params, { instance }) => {
        if (instance === "other") isOtherDone = true;
        // The first would go on for ever if the second did not end it.
        return instance === "endless" && !isOtherDone ? { event: { type: "WORKED" } } : undefined;
      },
    },
  });
  const busy = await running({ workflows: [chains], slots: 1 });
  await busy.start(chains, { id: "endless", input: { left: 1_000_000 } });
  await busy.start(chains, { id: "other", input: { left: 1 } });
  await busy.settled();
  expect(isOtherDone).toBe(true);
  awaitsOutside("endless", "other");
});

test("D90: an effect that is done beside 10,000 commits which wait for the database is not done again", async () => {
  const [working, hanging, answered] = [gate(), gate(), gate()];
  let isSilent = false;
  let runs = 0;
  const jobs = job(async () => {
    runs += 1;
    working.open();
    await hanging.opened;
    return "me";
  });
  const silent = await open((real) => ({
    async commit(items: Parameters<typeof real.commit>[0]) {
      if (isSilent) await answered.opened;
      return real.commit(items);
    },
  }));
  const { commit: commitAsHost, read } = await running({ workflows: [jobs], storage: silent }, "j");
  await working.opened;
  isSilent = true;
  const asked = Promise.allSettled(Array.from({ length: 10_001 }, () => commitAsHost({})));
  hanging.open();
  await turns(20);
  answered.open();
  expect((await asked).filter(({ status }) => status === "rejected")).toHaveLength(1);
  await settled();
  expect(runs).toBe(1);
  expect(await read("j")).toMatchObject({ value: "done" });
});
