/** The core of the engine alone: what stands without any module. */
import { fromPromise, setup } from "xstate";
import { expect, test } from "vitest";
import { sqliteStorage } from "paystate/storage/sqlite";
import { virtualClock } from "paystate/testing";
import { kernelEngine } from "../../src/engine/engine.ts";
import { MODULES } from "../../src/engine/modules.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { workflow } from "../../src/workflow/workflow.ts";

const MINUTE = 60_000;

const chart = setup({
  types: { events: {} as { type: "SHIPPED" } },
  actions: { ship: () => {} },
  actors: { pay: fromPromise(async () => "paid") },
}).createMachine({
  id: "order",
  initial: "paying",
  states: {
    paying: { invoke: { src: "pay", onDone: "shipping" } },
    shipping: { entry: "ship", on: { SHIPPED: "shipped" } },
    shipped: { after: { [MINUTE]: "closed" } },
    closed: { type: "final" },
  },
});
const orders = workflow(chart)({
  version: 1,
  effects: { ship: { run: async () => ({ event: { type: "SHIPPED" } }), limit: { key: "shop", atMost: 1 } } },
});

test("an engine without modules runs promises, effects under a limit, events and timers", async () => {
  const clock = virtualClock();
  const engine = kernelEngine(
    { storage: await sqliteStorage(":memory:"), workflows: [orders], clock, logger: silentLogger },
    [],
  );
  engine.run();
  await engine.start(orders, { id: "o", input: undefined });
  await engine.settled();
  expect((await engine.read(orders, "o"))?.value).toBe("shipped");
  clock.set(clock.now() + MINUTE);
  await engine.settled();
  expect(await engine.read(orders, "o")).toMatchObject({ value: "closed", status: "done" });
  expect((await engine.inspected.acting?.offers("o"))?.map(({ key }) => key)).toEqual([]);
  await engine.stop();
});

test("modules add calls to an engine, and no two add the same", async () => {
  const storage = await sqliteStorage(":memory:");
  const calls = MODULES.map((module) => {
    const engine = kernelEngine({ storage, workflows: [], logger: silentLogger }, [module]);
    return Object.keys(engine);
  });
  const core = new Set(Object.keys(kernelEngine({ storage, workflows: [], logger: silentLogger }, [])));
  const added = calls.flatMap((names) => names.filter((name) => !core.has(name)));
  expect(new Set(added).size).toBe(added.length);
  expect(added.length).toBeGreaterThan(0);
});
