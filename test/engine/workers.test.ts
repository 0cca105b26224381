/** How an engine works: bounded in its limits and slots, awake when it must be, and quiet when idle. */
import { createMachine, setup } from "xstate";
import { expect } from "vitest";
import { workflow } from "paystate/engine";
import { gate, turns, until } from "../kit/engine-world.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;
/** Boils for so long. */
const eggOf = (afterMs: number) =>
  workflow(
    createMachine({
      id: "egg",
      initial: "boiling",
      states: { boiling: { after: { [afterMs]: "done" } }, done: { type: "final" } },
    }),
  )({ version: 1, effects: {} });
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const { test, engine, running, clock, storage, open, settled } = engineTest("workers");

test("the end of an effect with a limit lets in at once what was parked, and asks for nothing where nothing was", async () => {
  let asked = 0;
  const counted = await open((real) => ({
    claim: (request) => ((asked += 1), real.claim(request)),
    nextDue: (...given) => ((asked += 1), real.nextDue(...given)),
  }));
  const held = gate();
  const limited = job(
    async ({ id }) => {
      if (id === "first") await held.opened;
      return id;
    },
    () => ({ key: "one", atMost: 1 }),
  );
  const one = await running({ workflows: [limited], storage: counted });
  await settled();
  const isDone = async (id: string): Promise<boolean> => (await storage.load(id))?.status === "done";
  asked = 0;
  await one.start(limited, { id: "alone", input: { id: "alone" } });
  while (!(await isDone("alone"))) await turns(1);
  await turns(20);
  expect(asked).toBe(0);
  await one.start(limited, { id: "first", input: { id: "first" } });
  await one.start(limited, { id: "second", input: { id: "second" } });
  await turns(20);
  held.open();
  // No time passes: the commit that ends the first tells of the second.
  for (let turn = 0; turn < 200 && !(await isDone("second")); turn++) await turns(1);
  expect(await isDone("second")).toBe(true);
});

test("D4: a timer of 100 ms is on time beside 128 effects of 8 s, of which half have no place", async () => {
  let ended = 0;
  const jobs = job(async () => {
    await clock.sleep(8_000);
    ended += 1;
    return "me";
  });
  const egg = eggOf(100);
  const busy = await running({ workflows: [jobs, egg] });
  await Promise.all(
    range(128).map((index) => busy.start(jobs, { id: `j${index}`, input: { id: `j${index}` } })),
  );
  await turns(50);
  await busy.start(egg, { id: "e", input: undefined });
  await turns(50);
  const startedAt = clock.now();
  clock.advance(99);
  await turns(50);
  expect(await storage.load("e")).toMatchObject({ status: "active" });
  clock.advance(1);
  await turns(50);
  expect(await storage.load("e")).toMatchObject({ status: "done", updatedAt: startedAt + 100 });
  expect(await storage.load("j0")).toMatchObject({ status: "active" });
  // The half that had a place, then the other.
  for (const done of [64, 128]) {
    clock.advance(8_000);
    await until(() => ended === done);
    await turns(50);
  }
  await settled();
});

test.each([
  { heardOf: "by a hint", afterMs: 7_000, hints: 1 },
  { heardOf: "by its looks alone", afterMs: 17_000, hints: 0 },
])(
  "D77: a timer that another process armed long before is on time, heard of $heardOf",
  async ({ afterMs, hints }) => {
    const egg = eggOf(afterMs);
    const hears: (() => void)[] = [];
    const onWake = (listener: () => void) => (hears.push(listener), () => {});
    const idle = await running({ workflows: [egg], pollMs: 5_000, storage: { ...(await open()), onWake } });
    const other = await engine(egg);
    await idle.settled();
    await turns(50);
    await other.start(egg, { id: "e", input: undefined });
    for (const hear of hears.slice(0, hints)) hear();
    const dueAt = clock.now() + afterMs;
    while (clock.now() < dueAt) {
      await turns(50);
      clock.advance(1_000);
    }
    await turns(100);
    expect(await storage.load("e")).toMatchObject({ status: "done", updatedAt: dueAt });
  },
);

test("an idle engine with two watched kinds and a timer far away writes nothing and reads at most once a second", async () => {
  const calls: Record<string, number> = {};
  const storage = await open();
  const counted = Object.fromEntries(
    Object.entries(storage).map(([name, method]) => [
      name,
      (...given: unknown[]) => {
        calls[name] = (calls[name] ?? 0) + 1;
        return (method as (...all: unknown[]) => unknown)(...given);
      },
    ]),
  ) as unknown as typeof storage;
  const chart = setup({}).createMachine({
    id: "sleeper",
    initial: "asleep",
    states: {
      asleep: { after: { [60 * MINUTE]: "awake" } },
      awake: { type: "final", meta: { watches: ["a", "b"] } },
    },
  });
  const sleeper = workflow(chart)({ version: 1, effects: {}, watches: { a: () => "a", b: () => "b" } });
  const watcher = { intervalMs: 1_000, poll: async () => [] };
  const idle = await engine(
    { workflows: [sleeper], storage: counted, watchers: { a: watcher, b: watcher } },
    "s",
  );
  idle.run();
  await idle.settled();
  // The first rounds of its loops have ended, too.
  await turns(30);
  for (const key of Object.keys(calls)) delete calls[key];
  for (let tenth = 0; tenth < 600; tenth++) {
    clock.advance(100);
    await turns(3);
  }
  const { commit = 0, heartbeat = 0, release = 0, ...reads } = calls;
  expect(commit + heartbeat + release).toBe(0);
  const read = Object.values(reads).reduce((sum, count) => sum + count, 0);
  // Both ends of the minute are in it.
  expect(read, JSON.stringify(calls)).toBeLessThanOrEqual(61);
  expect(read).toBeGreaterThan(40);
});
