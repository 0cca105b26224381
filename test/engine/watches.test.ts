/** Watches: armed and disarmed with their state, polled by one process each, and nobody's poison but their own. */
// modules: watching
import { setup } from "xstate";
import { expect } from "vitest";
import { workflow, type PollContext, type Watcher, type WatchRecord } from "paystate/engine";
import type { EngineStorage } from "paystate/storage";
import { recorder } from "../core/recorder.ts";
import { turns, until } from "../kit/engine-world.ts";
import { watchRows } from "../../src/workflow/watch-rows.ts";
import { engineTest } from "../kit/engine-test.ts";

type SkyEvent = { readonly type: "CLEARED" } | { readonly type: "STORM" } | { readonly type: "LOOK_AGAIN" };

const chart = setup({
  types: {
    context: {} as { readonly place: string },
    input: {} as { readonly place: string },
    events: {} as SkyEvent,
  },
  guards: {
    isCharted: ({ context }) => {
      if (context.place === "nowhere") throw new Error("there is no such place");
      return true;
    },
  },
}).createMachine({
  id: "voyage",
  context: ({ input }) => input,
  initial: "waiting",
  states: {
    waiting: {
      meta: { watches: ["sky"] },
      on: { CLEARED: { guard: "isCharted", target: "sailing" }, STORM: "wrecked" },
    },
    sailing: { on: { LOOK_AGAIN: "waiting" } },
    // What is final needs no watch, whatever its meta says.
    wrecked: { type: "final", meta: { watches: ["sky"] } },
  },
});

const voyage = workflow(chart)({ version: 1, effects: {}, watches: { sky: ({ place }) => place } });

/** Tells everybody whose place is named what the sky does, and notes who was asked about. */
function skyOver(events: Readonly<Record<string, SkyEvent>>): Watcher & { readonly asked: string[][] } {
  const asked: string[][] = [];
  return {
    asked,
    intervalMs: 1_000,
    poll: async (watches: readonly WatchRecord[]) => {
      asked.push(watches.map(({ key }) => key));
      return watches.flatMap(({ key, instance }) => {
        const event = events[key];
        return event === undefined ? [] : [{ instance, event }];
      });
    },
  };
}

const { test, engine, running, clock, storage, pass, awaitsOutside } = engineTest("watches");

test("D91: where a row of watching is gone, the next event and the next state are as ever", async () => {
  const events: Record<string, SkyEvent> = {};
  const { start, send, read, pending } = await running({
    workflows: [voyage],
    watchers: { sky: skyOver(events) },
  });
  await start(voyage, { id: "v", input: { place: "north" } });
  expect((await pending("v")).watches).toEqual([{ kind: "sky", key: "north" }]);
  expect(await storage.find({ table: watchRows })).toMatchObject([{ id: "sky/v", key: "north" }]);
  const bare: EngineStorage = storage;
  await bare.commit([{ writes: [{ table: watchRows.name, unput: "sky/v" }] }]);
  expect(await send(voyage, "v", { type: "CLEARED" })).toMatchObject({ kind: "stepped" });
  await send(voyage, "v", { type: "LOOK_AGAIN" });
  events["north"] = { type: "STORM" };
  await pass(1_000);
  expect(await read("v")).toMatchObject({ value: "wrecked" });
  expect((await pending("v")).watches).toEqual([]);
  awaitsOutside("v");
});

test.each([-3_600_000, 3_600_000])(
  "D35: a clock that is put by %i ms: watches are looked at on, and new ones found, within their interval",
  async (put) => {
    const sky = skyOver({});
    const { start, watching } = await running({ workflows: [voyage], watchers: { sky } });
    await start(voyage, { id: "old", input: { place: "north" } });
    await pass(2_000);
    clock.put(put);
    sky.asked.length = 0;
    await start(voyage, { id: "new", input: { place: "south" } });
    // Not by `pass`, which looks at every watch.
    for (let passed = 0; passed < 2_500; passed += 100) {
      clock.advance(100);
      await turns(30);
    }
    expect(sky.asked.filter((keys) => keys.includes("north")).length).toBeGreaterThanOrEqual(2);
    expect(sky.asked.filter((keys) => keys.includes("south")).length).toBeGreaterThanOrEqual(2);
    expect(watching()["sky"]?.oldestMs).toBeLessThanOrEqual(1_000);
    awaitsOutside("old", "new");
  },
);

test("an instance that cannot be told keeps no other from being told", async () => {
  const sky = skyOver({ nowhere: { type: "CLEARED" }, east: { type: "CLEARED" }, west: { type: "STORM" } });
  const { run, start, read } = await engine({ workflows: [voyage], watchers: { sky } });
  for (const place of ["east", "nowhere", "west"]) await start(voyage, { id: place, input: { place } });
  run();
  await pass(1_000);
  expect(await read("east")).toMatchObject({ value: "sailing" });
  expect(await read("nowhere")).toMatchObject({ value: "waiting" });
  expect(await read("west")).toMatchObject({ value: "wrecked" });
  awaitsOutside("east");
});

test("a look that never ends is told to end, is given up after a minute, and the next one begins", async () => {
  const looks: PollContext[] = [];
  const silent: Watcher = {
    intervalMs: 1_000,
    poll: (watches, look) => {
      looks.push(look);
      const [watch] = watches;
      if (looks.length === 1 || watch === undefined) return new Promise(() => {});
      return Promise.resolve([{ instance: watch.instance, event: { type: "STORM" } }]);
    },
  };
  const logged = recorder();
  const { start, read, watching } = await running({
    workflows: [voyage],
    watchers: { sky: silent },
    logger: logged.logger,
  });
  await start(voyage, { id: "v", input: { place: "east" } });
  await until(() => looks.length === 1);
  clock.advance(749);
  await turns(20);
  expect(looks.map(({ signal }) => signal.aborted)).toEqual([false]);
  clock.advance(1);
  await turns(20);
  expect(looks.map(({ signal }) => signal.aborted)).toEqual([true]);
  clock.advance(59_249);
  await turns(20);
  expect(looks).toHaveLength(1);
  expect(watching()["sky"]).toEqual({ watched: 1, oldestMs: 59_999, lateMs: 58_999 });
  clock.advance(1);
  await until(() => logged.lines.length > 0);
  expect(logged.lines).toHaveLength(1);
  expect(logged.lines[0]).toMatchObject({ level: "warn", fields: { kind: "sky", watches: 1 } });
  await pass(1_000);
  expect(await read("v")).toMatchObject({ value: "wrecked" });
  expect(looks).toHaveLength(2);
  // What the one that was given up finds out now is too late.
  const late = { instance: "v", event: { type: "CLEARED" } };
  expect(await looks[0]?.tell([late])).toEqual([late]);
});

test("E11: of two engines one polls a watch, and when it dies the other takes over", async () => {
  const skies = [skyOver({}), skyOver({})] as const;
  const engines = [];
  for (const sky of skies) engines.push(await engine({ workflows: [voyage], watchers: { sky } }));
  await engines[0]?.start(voyage, { id: "v", input: { place: "south" } });
  for (const each of engines) each.run();
  await pass(5_000);
  for (const { asked } of skies) asked.length = 0;
  await pass(5_000);
  const polling = skies.findIndex(({ asked }) => asked.length > 0);
  const other = skies[1 - polling];
  expect(other?.asked).toEqual([]);
  await engines[polling]?.stop();
  clock.advance(15_000);
  await pass(1_000);
  expect(other?.asked).toContainEqual(["south"]);
  awaitsOutside("v");
});
