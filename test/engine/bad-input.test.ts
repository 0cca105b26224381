/** What a program may get wrong after its charts are registered: each error names the chart, the state and the path. */
import { assign, createMachine, fromPromise, setup } from "xstate";
import { describe, expect, test } from "vitest";
import { MigrationFailed, UnstorableValue, workflow } from "paystate/engine";
import { adapters } from "../kit/adapters.ts";
import { inWorld } from "../kit/engine-world.ts";
import { drawn } from "../kit/thorough.ts";

const socket = (): void => {};

const keeper = workflow(
  setup({
    types: {
      context: {} as { readonly held: unknown },
      input: {} as { readonly held: unknown },
      events: {} as { type: "HOLD"; held: unknown } | { type: "ASK" } | { type: "BEGIN" },
    },
    actors: {
      ask: fromPromise<void, { socket: unknown }>(async () => {}),
      child: createMachine({ initial: "here", states: { here: {} } }),
    },
  }).createMachine({
    id: "keeper",
    context: ({ input }) => input,
    initial: "idle",
    states: {
      idle: {
        on: {
          HOLD: { actions: assign({ held: ({ event }) => event.held }) },
          ASK: "asking",
          BEGIN: "begun",
        },
      },
      asking: { invoke: { src: "ask", input: { socket } } },
      begun: { invoke: { src: "child", input: { socket } as never } },
    },
  }),
)({ version: 1 });

describe.each(drawn(adapters, "bad input"))("bad input on $name", (adapter) => {
  test.each([
    ["no event at all", undefined],
    ["null", null],
    ["an event without a type", { held: 1 }],
    ["a type that is no text", { type: 7 }],
    ["an empty type", { type: "" }],
  ])("%s is refused with chart, state and path, and nothing has changed", (_name, event) =>
    inWorld(adapter, async ({ engine, storage, awaitsOutside }) => {
      const one = await engine({ workflows: [keeper] });
      await one.start(keeper, { id: "k", input: { held: 1 } });
      const before = await storage.load("k");
      const sent = one.send(keeper, "k", event as never);
      await expect(sent).rejects.toThrow(
        new TypeError('keeper@1, k in state "idle": event.type: expected the name of an event'),
      );
      expect(await storage.load("k")).toEqual(before);
      awaitsOutside("k");
    }),
  );

  test("an input that cannot be kept is refused with chart and path, and no instance is there", () =>
    inWorld(adapter, async ({ engine, storage }) => {
      const one = await engine({ workflows: [keeper] });
      const started = one.start(keeper, { id: "k", input: { held: { socket } } });
      await expect(started).rejects.toBeInstanceOf(UnstorableValue);
      await expect(started).rejects.toThrow(
        /^keeper@1, start of k: (context|event\.input)\.held\.socket cannot be stored: it is a function/,
      );
      expect(await storage.load("k")).toBeNull();
    }));

  test.each([
    ["an event", { type: "HOLD", held: { socket } }, /(context|event)\.held\.socket/],
    ["the input of a promise", { type: "ASK" }, /input of "0\.keeper\.asking"\.socket/],
    ["the input of a child machine", { type: "BEGIN" }, /^event\.input\.socket/],
  ] as const)(
    "what cannot be kept of %s is refused with chart, state and path, and nothing has changed",
    (_name, event, path) =>
      inWorld(adapter, async ({ engine, storage, awaitsOutside }) => {
        const one = await engine({ workflows: [keeper] });
        await one.start(keeper, { id: "k", input: { held: 1 } });
        const before = await storage.load("k");
        const error: unknown = await one.send(keeper, "k", event as never).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(UnstorableValue);
        const { message, path: named } = error as UnstorableValue;
        expect(message).toMatch(/^keeper(@1, k in state "idle"|\/child@1, start of k\/0\.keeper\.begun): /);
        expect(message).toContain("it is a function");
        expect(named).toMatch(path);
        expect(await storage.load("k")).toEqual(before);
        awaitsOutside("k");
      }),
  );

  test("an id that is taken is answered with its place in the list, and neither instance is there twice", () =>
    inWorld(adapter, async ({ engine, awaitsOutside }) => {
      const one = await engine({ workflows: [keeper] });
      await one.start(keeper, { id: "k", input: { held: 1 } });
      const again = await one.start(keeper, { id: "k", input: { held: 2 } });
      expect(again).toEqual({ ok: false, conflict: "exists", index: 0 });
      expect(await one.read("k")).toMatchObject({ context: { held: 1 }, steps: 1 });
      awaitsOutside("k");
    }));

  test("a migration to a state that the chart does not have leaves the instance as it was, listed", () =>
    inWorld(adapter, async ({ engine, storage, pass }) => {
      const chart = (name: string) =>
        createMachine({
          id: "mover",
          initial: name,
          states: { [name]: { after: { 60_000: "over" } }, over: { type: "final" } },
        });
      const first = workflow(chart("here"))({ version: 1 });
      const writer = await engine({ workflows: [first] });
      await writer.start(first, { id: "m", input: undefined });
      const before = await storage.load("m");
      const next = workflow(chart("there"))({
        version: 2,
        migrate: { 1: () => ({ value: "nowhere" as never }) },
      });
      const mover = await engine({ workflows: [next] });
      const sent = mover.send(next, "m", { type: "X" });
      await expect(sent).rejects.toBeInstanceOf(MigrationFailed);
      await expect(sent).rejects.toThrow(/^instance m cannot go on from mover@1 to mover@2: value.*nowhere/);
      mover.run();
      await pass(120_000);
      expect(await storage.load("m")).toEqual(before);
      expect((await mover.list({ failing: true })).instances.map(({ id }) => id)).toEqual(["m"]);
      await mover.stop();
      writer.run();
      await pass(120_000);
      expect(await writer.read("m")).toMatchObject({ status: "done" });
    }));
});
