/** Looking at any recorded step, trying an event on a copy, and the timeline in words. */
import { assign, createMachine, enqueueActions, raise, setup } from "xstate";
import { expect } from "vitest";
import { createInspector } from "../../src/inspector.ts";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import type { ParcelWorld } from "./parcel.ts";
import { parcelTest as test } from "./parcel-test.ts";
import { movedLoan } from "./two-deployments.ts";
import { viewerOf } from "./viewer.ts";

const inspect = ({ storage, workflow: registered, clock }: ParcelWorld) => {
  return viewerOf(createInspector({ storage, workflows: [registered], clock }));
};

test("each recorded step can be looked at, its context computed again by the chart", async ({ world }) => {
  const { engine, workflow: registered, clock } = world;
  engine.run();
  await engine.start(registered, { id: "p1", input: { note: "fragile" } });
  await engine.settled();
  await engine.send(registered, "p1", { type: "SEND", weight: 30 });
  clock.advance(1_000);
  await engine.settled();
  const { text, html } = inspect(world);
  const second = await text("/instance?id=p1&step=2");
  expect(second).toContain("As it stood after step 2");
  expect(second).toContain('"weight": 3');
  expect(second).toContain("Step 2 of 3");
  const third = await text("/instance?id=p1&step=3");
  expect(third).toContain('"weight": 30');
  // What came later is neither numbered nor filled in the drawing of an earlier step.
  const drawing = await html("/instance?id=p1&step=1");
  expect(drawing.match(/class="badge-text"/g)).toBeNull();
  expect(await text("/instance?id=p1&step=4")).toContain("“p1” has made 3 steps, and no step 4.");
});

test("the timeline tells causes, effects, timers and how long an invocation took", async ({ world }) => {
  const { engine, workflow: registered } = world;
  engine.run();
  await engine.start(registered, { id: "p1", input: { note: "x" } });
  await engine.settled();
  await engine.send(registered, "p1", { type: "PAUSE" });
  const page = await inspect(world).text("/instance?id=p1");
  expect(page).toContain("invokes scale");
  expect(page).toContain("scale is done");
  expect(page).toMatch(/its invocation ended after 0 s, begun at step 1/);
  expect(page).toContain("by a caller");
  expect(page).toContain("effect label");
  expect(page).toContain("timer after 15 min");
});

test("U7: an instance that moved between deployments: each step is computed by the chart that made it, and nothing is suspected", async () => {
  const { engine, clock, first } = await movedLoan();
  const { html, text } = viewerOf(createInspector({ engine, workflows: [first], clock }));
  const page = (query: string): Promise<string> => text(`/${query}`);
  const now = await page("instance?id=l");
  expect(now).toContain("It ended in paid");
  expect(now).toContain("moved from version 1 to 2 of its chart");
  expect(now).not.toContain("⚠");
  expect(now).not.toContain("not registered");
  const contexts = [['"euros": 1'], ['"euros": 40'], ['"euros": 42'], ['"cents": 4200'], ['"cents": 4299']];
  for (const [index, [context = ""]] of contexts.entries()) {
    const then = await page(`instance?id=l&step=${index + 1}`);
    expect(then).toContain(`computed again by loan@${index < 3 ? 1 : 2}`);
    expect(then).toContain(context);
    expect(then.includes("The step was made by loan@1 .")).toBe(index < 3);
    expect(then).not.toContain("⚠");
  }
  // The states of the version that made the step are drawn.
  const list = /<ul class="states">[^]*?<\/ul>/;
  const drawn = async (path: string): Promise<string> => list.exec(await html(path))?.[0] ?? "";
  expect(await drawn("/instance?id=l&step=2")).toMatch(/asked[^]*raised/);
  expect(await drawn("/instance?id=l")).toMatch(/wanted[^]*paid/);
});

test("U7: steps of a version that is registered no more are told as that, whichever of the two it is", async () => {
  const { storage, clock, first, second } = await movedLoan();
  const asks = (workflows: readonly (typeof first)[]) => {
    const { text } = viewerOf(createInspector({ storage, workflows, clock }));
    return (query: string): Promise<string> => text(`/${query}`);
  };
  const later = asks([second]);
  const plain = "Steps 1 to 3 were made by the chart of loan@1, which is not registered in this process";
  for (const page of [await later("instance?id=l"), await later("instance?id=l&step=2")]) {
    expect(page).toContain(plain);
    expect(page).not.toContain("⚠");
  }
  expect(await later("instance?id=l&step=2")).toContain("The chart loan@1 is not registered");
  expect(await later("instance?id=l&step=4")).toContain('"cents": 4200');
  const earlier = asks([first]);
  expect(await earlier("instance?id=l")).toContain("The chart loan@2 is not registered");
  expect(await earlier("instance?id=l&step=3")).toContain('"euros": 42');
  // What the migration brought about is recorded whole.
  expect(await earlier("instance?id=l&step=4")).toContain('"cents": 4200');
  expect(await earlier("instance?id=l&step=5")).toContain(
    "Step 5 was made by the chart of loan@2, which is not registered",
  );
  expect(await earlier("instance?id=l")).not.toContain("⚠");
});

test("children and parents are one click away, and messages between them are told", async () => {
  const clock = virtualClock();
  const storage = await sqliteStorage(":memory:");
  const child = createMachine({
    id: "child",
    initial: "busy",
    states: { busy: { on: { END: "over" } }, over: { type: "final" } },
  });
  const parent = setup({ actors: { child } }).createMachine({
    id: "parent",
    initial: "waiting",
    states: { waiting: { invoke: { id: "kid", src: "child", onDone: "glad" } }, glad: {} },
  });
  const registered = workflow(parent)({ version: 1 });
  const engine = createEngine({ storage, workflows: [registered], clock, logger: silentLogger });
  await engine.start(registered, { id: "mum", input: undefined });
  const { html } = viewerOf(createInspector({ storage, workflows: [registered], clock }));
  const page = await html("/instance?id=mum");
  expect(page).toContain('<a href="/_inspector/instance?id=mum%2Fkid">');
  const below = await html("/instance?id=mum%2Fkid");
  expect(below).toContain("parent");
  expect(below).toContain('<a href="/_inspector/instance?id=mum"><code>mum</code></a>');
});

test("a chart that was edited, or that asks chance, is told apart from what is recorded", async () => {
  const clock = virtualClock();
  const storage = await sqliteStorage(":memory:");
  let count = 0;
  const odd = setup({ types: { context: {} as { n: number } } }).createMachine({
    id: "odd",
    context: { n: 0 },
    initial: "a",
    states: {
      a: {
        on: {
          GO: { actions: assign({ n: () => (count += 1) }) },
          END: [{ guard: ({ context }) => context.n > 1, target: "b" }, "c"],
        },
      },
      b: {},
      c: {},
    },
  });
  const registered = workflow(odd)({ version: 1 });
  const engine = createEngine({ storage, workflows: [registered], clock, logger: silentLogger });
  await engine.start(registered, { id: "o", input: undefined });
  await engine.send(registered, "o", { type: "GO" });
  await engine.send(registered, "o", { type: "END" });
  const { text } = viewerOf(createInspector({ storage, workflows: [registered], clock }));
  expect(await text("/instance?id=o")).toContain("Step 3 comes out differently than it was recorded");
});

/** A chart that can be brought to throw and to run in a circle, and storages with holes in them. */
const odd = setup({ types: { context: {} as { n: number } } }).createMachine({
  id: "odd",
  context: { n: 0 },
  initial: "a",
  states: {
    a: {
      on: {
        GO: { actions: assign({ n: ({ context }) => context.n + 1 }) },
        THROW: { guard: () => fail("the key is Bearer abc123secret"), target: "b" },
        CIRCLE: "circle",
        RAISE: "raising",
        KEEP: { actions: assign({ n: () => (() => {}) as never }) },
      },
    },
    b: {},
    circle: { always: "back" },
    back: { always: "circle" },
    raising: { entry: raise({ type: "MORE" }), on: { MORE: { target: "raising", reenter: true } } },
  },
});

const fail = (message: string): never => {
  throw new Error(message);
};

const opened = async () => {
  const clock = virtualClock();
  const storage = await sqliteStorage(":memory:");
  const registered = workflow(odd)({ version: 1 });
  const engine = createEngine({ storage, workflows: [registered], clock, logger: silentLogger });
  await engine.start(registered, { id: "o", input: undefined });
  return { clock, storage, registered, engine };
};

test("where a step is missing in what is stored, the page is shown without what follows it", async () => {
  const { clock, storage, registered, engine } = await opened();
  for (let step = 2; step <= 1_205; step++) await engine.send(registered, "o", { type: "GO" });
  const history: typeof storage.history = (id, { after, limit }) =>
    storage.history(id, { after: Math.max(after, 3), limit });
  const { text } = viewerOf(
    createInspector({
      storage: { ...storage, load: storage.load, tasks: storage.tasks, history },
      workflows: [registered],
      clock,
    }),
  );
  const page = await text("/instance?id=o&step=1200");
  expect(page).toContain("The context after step 1200 is not known here");
});

test("5,000 steps are gone through in either direction", async () => {
  const { clock, storage, registered, engine } = await opened();
  for (let step = 2; step <= 5_000; step++) await engine.send(registered, "o", { type: "GO" });
  const { text } = viewerOf(createInspector({ storage, workflows: [registered], clock }));
  for (const step of [5_000, 1, 2_500, 2_499, 4_999]) {
    const page = await text(`/instance?id=o&step=${step}`);
    expect(page).toContain(`"n": ${step - 1}`);
  }
});

test("steps whose contexts would fill the memory are shown without them", async () => {
  const clock = virtualClock();
  const storage = await sqliteStorage(":memory:");
  const chart = setup({ types: { context: {} as { n: number; text: string } } }).createMachine({
    id: "large",
    context: { n: 0, text: "x".repeat(1_000_000) },
    on: { GO: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
  });
  const registered = workflow(chart)({ version: 1 });
  const engine = createEngine({ storage, workflows: [registered], clock, logger: silentLogger });
  await engine.start(registered, { id: "l", input: undefined });
  for (let step = 2; step <= 12; step++) await engine.send(registered, "l", { type: "GO" });
  const { text } = viewerOf(createInspector({ storage, workflows: [registered], clock }));
  const page = await text("/instance?id=l&step=12");
  expect(page).toContain("From step 9 on the contexts are not computed");
  expect(page.length).toBeLessThan(100_000);
});

test("F10: a history that is folded over large contexts of effects, and over children that have still to begin, is computed", async () => {
  const child = setup({}).createMachine({ id: "child" });
  const chart = setup({
    types: { context: {} as { readonly count: number; readonly file: string } },
    actors: { child },
    actions: { print: ({ context }) => void context.file },
  }).createMachine({
    id: "printer",
    context: { count: 0, file: "x".repeat(20_000) },
    on: {
      PRINT: { actions: [assign({ count: ({ context }) => context.count + 1 }), "print"] },
      MANY: {
        actions: enqueueActions(({ enqueue }) => {
          for (let n = 0; n < 300; n++) enqueue.spawnChild("child", { id: `child ${n}` });
        }),
      },
    },
  });
  const flow = workflow(chart)({
    version: 1,
    history: { keep: 10 }, // modules: folding
  });
  const clock = virtualClock();
  const engine = createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: [flow],
    clock,
    logger: silentLogger,
  });
  const { text } = viewerOf(createInspector({ engine, workflows: [flow], clock }));
  await engine.start(flow, { id: "c", input: undefined });
  for (let n = 0; n < 8; n++) await engine.send(flow, "c", { type: "PRINT" });
  await engine.send(flow, "c", { type: "MANY" });
  for (let n = 0; n < 12; n++) await engine.send(flow, "c", { type: "PRINT" });
  const rows = (await engine.history("c")).filter(({ event }) => event.type === "$folded");
  expect(rows.length).toBeGreaterThan(1); // modules: folding
  // The context of the chart alone: none that an effect has still to read.
  for (const row of rows) expect(JSON.stringify(row).length).toBeLessThan(60_000);
  expect(await text("/instance?id=c")).not.toContain("⚠");
  await engine.stop();
});

test("F10: of an instance whose history is folded the steps that stand there are computed, from the whole snapshot on", async () => {
  const counter = setup({ types: { context: {} as { readonly count: number } } }).createMachine({
    id: "counter",
    context: { count: 0 },
    on: { ADD: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
  });
  const flow = workflow(counter)({
    version: 1,
    history: { keep: 10 }, // modules: folding
  });
  const clock = virtualClock();
  const engine = createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: [flow],
    clock,
    logger: silentLogger,
  });
  const { text } = viewerOf(createInspector({ engine, workflows: [flow], clock }));
  const page = (query: string): Promise<string> => text(`/instance?id=c${query}`);
  await engine.start(flow, { id: "c", input: undefined });
  // Looked at while its first steps stand there, too: what was computed then is no part of the folded history.
  for (const count of [13, 26, 39]) {
    for (let n = 0; n < 13; n++) await engine.send(flow, "c", { type: "ADD" });
    expect(await page("")).toContain(`"count": ${count}`);
  }
  const history = await engine.history("c");
  const now = await page("");
  expect(now).toContain("the whole snapshot, for the steps before it"); // modules: folding
  expect(now).not.toContain("⚠");
  const first = history.find(({ event }) => event.type === "ADD")?.version ?? 0;
  expect(first).toBeGreaterThan(10); // modules: folding
  const then = await page(`&step=${first}`);
  expect(then).toContain(`As it stood after step ${first}`);
  expect(then).toMatch(/"count": \d+/);
  // Nothing leads to steps that are not there any more.
  const oldest = String(history[0]?.version);
  const earliest = await page(`&step=${oldest}`);
  expect([now, earliest].filter((each) => each.includes("Earlier steps"))).toEqual([]); // modules: folding
  expect(earliest).not.toContain("← before");
  await engine.stop();
});
