/** Instances that live long: their history keeps the newest steps, and one row with the whole snapshot for those before. */
// modules: folding
import { expect, it } from "vitest";
import { assign, setup } from "xstate";
import { workflow, type PreviousInstance } from "paystate/engine";
import { FOLDED } from "../../src/workflow/folding.ts";
import { everyAdapter, onSqlite } from "../kit/adapters.ts";
import { inWorld, type EngineWorld } from "../kit/engine-world.ts";
import { byDepth, EXPLORING_MS, drawn } from "../kit/thorough.ts";
import { engineTest } from "../kit/engine-test.ts";

const KEEP = 10;

const meter = setup({
  types: { context: {} as { readonly read: number }, events: {} as { type: "READ" } | { type: "END" } },
}).createMachine({
  id: "meter",
  context: { read: 0 },
  initial: "low",
  states: {
    low: { on: { READ: { target: "high", actions: assign({ read: ({ context }) => context.read + 1 }) } } },
    high: { on: { READ: { target: "low", actions: assign({ read: ({ context }) => context.read + 1 }) } } },
    over: { type: "final" },
  },
  on: { END: ".over" },
});

const meters = workflow(meter)({ version: 1, history: { keep: KEEP } });
const keepsAll = workflow(meter)({ version: 1 });

type Meters = typeof meters;

async function readMeter(
  { engine }: Pick<EngineWorld, "engine">,
  times: number,
  flow: Meters = meters,
): Promise<Awaited<ReturnType<EngineWorld["engine"]>>> {
  const one = await engine(flow, "m");
  for (let n = 0; n < times; n++) await one.send(flow, "m", { type: "READ" });
  return one;
}

const { test, world } = engineTest("folded history", drawn(everyAdapter, "folded history"));

test("F10: of a hundred steps at least the newest ten stand in the history, behind one row with the whole snapshot", async () => {
  const one = await readMeter(world, 100);
  const history = await one.history("m");
  const types = history.map(({ event }) => event.type);
  expect(types[0]).toBe(FOLDED);
  expect(types.filter((type) => type === "READ").length).toBeGreaterThanOrEqual(KEEP);
  expect(history.length).toBeLessThanOrEqual(2 * (KEEP + 1));
  expect(await one.read(meters, "m")).toMatchObject({ value: "low", context: { read: 100 } });
  world.awaitsOutside("m");
});

test("F10: at each number of steps the history begins with its start or a whole snapshot, and leads to what is stored", async () => {
  const one = await readMeter(world, 0);
  for (let n = 1; n <= 3 * KEEP; n++) {
    await one.send(meters, "m", { type: "READ" });
    const history = await one.history("m");
    expect(["$started", FOLDED]).toContain(history[0]?.event.type);
    const versions = history.map(({ version }) => version);
    expect(versions).toEqual(versions.map((_, index) => (versions[0] ?? 0) + index));
    expect((await world.storage.load("m"))?.version).toBe(versions.at(-1));
    expect(history.at(-1)?.value).toBe(n % 2 === 0 ? "low" : "high");
  }
  world.awaitsOutside("m");
});

test("F10: steps by two engines in turn fold as those of one", async () => {
  const one = await readMeter(world, 0);
  const two = await world.engine(meters);
  for (let n = 0; n < 60; n++) await (n % 2 === 0 ? one : two).send(meters, "m", { type: "READ" });
  expect((await one.history("m")).length).toBeLessThanOrEqual(2 * (KEEP + 1));
  expect(await two.read(meters, "m")).toMatchObject({ context: { read: 60 } });
  world.awaitsOutside("m");
});

test("F10: where `keep` comes to an instance that has all its steps, they go with its second whole snapshot", async () => {
  await (await readMeter(world, 90, keepsAll)).stop();
  const two = await world.engine(meters);
  for (let n = 0; n < 2 * KEEP + 4; n++) await two.send(meters, "m", { type: "READ" });
  expect((await two.history("m"))[0]?.event.type).toBe(FOLDED);
  expect(await two.read(meters, "m")).toMatchObject({ context: { read: 90 + 2 * KEEP + 4 } });
  world.awaitsOutside("m");
});

test("F10: an instance with a folded history migrates, ends, and is removed with all of it", async () => {
  await (await readMeter(world, 35)).stop();
  const next = workflow(meter)({
    version: 2,
    history: { keep: KEEP },
    migrate: {
      1: ({ context }: PreviousInstance<{ read: number }>) => ({ context: { read: context.read * 2 } }),
    },
  });
  const two = await world.engine(next);
  for (let n = 0; n < 35; n++) await two.send(next, "m", { type: "READ" });
  expect(await two.read(next, "m")).toMatchObject({ context: { read: 105 } });
  await two.send(next, "m", { type: "END" });
  expect(await two.removeInstance("m")).toBe("removed");
  expect(await two.history("m")).toEqual([]);
});

it("F10: `keep` is a whole number from 10 to 10,000", () => {
  for (const keep of [0, 9, 10.5, 10_001, Number.NaN]) {
    expect(() => workflow(meter)({ version: 1, history: { keep } })).toThrow(
      "history.keep: expected a whole number from 10 to 10000",
    );
  }
});

const STEPS = byDepth({ quick: 500, ci: 5_000, long: 1_000_000 });

it(
  "F10: after very many steps the history holds its newest, and what is stored is what they lead to",
  { timeout: EXPLORING_MS },
  async () => {
    await inWorld(onSqlite, async (world) => {
      const flow = workflow(meter)({ version: 1, history: { keep: 100 } });
      const one = await readMeter(world, STEPS, flow);
      world.log.commits.splice(0);
      expect((await one.history("m", { limit: 1_000 })).length).toBeLessThanOrEqual(2 * 101);
      expect(await one.read(flow, "m")).toMatchObject({ context: { read: STEPS } });
      world.awaitsOutside("m");
    });
  },
);
