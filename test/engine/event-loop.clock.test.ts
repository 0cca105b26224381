/** However much there is to do, timers and requests of the host have their turn. The event loop is real, so time is, too. */
import { expect } from "vitest";
import { assign, setup, type EventObject } from "xstate";
import { workflow, type TellParams } from "paystate/engine";
import { engineTest } from "../kit/engine-test.ts";
import { adapters } from "../kit/adapters.ts";
import { turns, until } from "../kit/engine-world.ts";

const TICK_MS = 10;
const MAX_GAP_MS = 500;

/** Counts the ticks of an interval, and the longest time between two. */
function ticking(): { readonly ticks: () => number; stop(): number } {
  let [count, last, longest] = [0, performance.now(), 0];
  const tick = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    count += 1;
  };
  const interval = setInterval(tick, TICK_MS);
  return {
    ticks: () => count,
    stop() {
      clearInterval(interval);
      tick();
      return longest;
    },
  };
}

// Without a turn of the event loop nothing could stop them: at this many they stop by themselves, and the test fails.
const MAX_TOLD = 20_000;

const player = workflow(
  setup({
    types: {
      context: {} as { other: string; told: number },
      input: {} as { other: string },
      events: {} as { type: "TOLD" },
    },
    actions: { tell: (_, _params: TellParams) => {} },
    guards: { goesOn: ({ context }) => context.told < MAX_TOLD },
  }).createMachine({
    id: "player",
    context: ({ input }) => ({ ...input, told: 0 }),
    on: {
      TOLD: {
        guard: "goesOn",
        actions: [
          assign({ told: ({ context }) => context.told + 1 }),
          {
            type: "tell",
            params: ({ context: { other } }) => ({ machine: "player", id: other, event: { type: "TOLD" } }),
          },
        ],
      },
    },
  }),
)({ version: 1, effects: {} });

const counter = workflow(
  setup({ types: { context: {} as { count: number }, events: {} as EventObject } }).createMachine({
    id: "counter",
    context: { count: 0 },
    on: { ADD: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
  }),
)({ version: 1 });

const { test, engine, running, awaitsOutside } = engineTest(
  "event loop",
  adapters.filter(({ name }) => name !== "PostgreSQL"),
);

test("D14: two instances that tell each other for ever leave timers their turn, and can be stopped", async () => {
  const one = await running(player);
  await one.start(player, { id: "ping", input: { other: "pong" } });
  await one.start(player, { id: "pong", input: { other: "ping" } });
  const { ticks, stop } = ticking();
  await one.send(player, "ping", { type: "TOLD" });
  await until(() => ticks() >= 20);
  await one.stop();
  expect(stop()).toBeLessThan(MAX_GAP_MS);
  const told = (await one.read("ping"))?.context["told"];
  expect(told).toBeGreaterThan(20);
  expect(told).toBeLessThan(MAX_TOLD);
  awaitsOutside("ping", "pong");
});

test.each([
  ["that each make a step", "ADD", 5_000],
  ["that change nothing", "NOTHING", 20_000],
])("D14: thousands of events in a row %s leave timers their turn", async (_name, type, count) => {
  const one = await engine(counter, "c");
  const { ticks, stop } = ticking();
  const sent: Promise<unknown>[] = [];
  while (sent.length < count) {
    for (let each = 0; each < 500; each++) sent.push(one.send(counter, "c", { type }));
    await turns(1);
  }
  await Promise.all(sent);
  expect(stop()).toBeLessThan(MAX_GAP_MS);
  expect(ticks()).toBeGreaterThan(3);
  expect((await one.read("c"))?.context).toEqual({ count: type === "ADD" ? count : 0 });
  awaitsOutside("c");
});

test("D81: thousands of reads in a row leave timers their turn", async () => {
  const one = await engine(counter, "c");
  const { ticks, stop } = ticking();
  // By the machine's own clock, as the timers that have to get their turn.
  const began = performance.now();
  while (performance.now() - began < 30 * TICK_MS) {
    await one.read("c");
    await one.history("c");
    await one.list({ limit: 10 });
  }
  expect(ticks()).toBeGreaterThan(3);
  expect(stop()).toBeLessThan(MAX_GAP_MS);
  awaitsOutside("c");
});
