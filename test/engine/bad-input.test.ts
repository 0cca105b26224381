/** What a program may get wrong after its charts are registered: each error names the chart, the state and the path. */
import { assign, createMachine, fromPromise, setup } from "xstate";
import { expect } from "vitest";
import { UnstorableValue, workflow } from "paystate/engine";
import { engineTest } from "../kit/engine-test.ts";

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
        on: { HOLD: { actions: assign({ held: ({ event }) => event.held }) }, ASK: "asking", BEGIN: "begun" },
      },
      asking: { invoke: { src: "ask", input: { socket } } },
      begun: { invoke: { src: "child", input: { socket } as never } },
    },
  }),
)({ version: 1 });

const { test, engine, storage, awaitsOutside } = engineTest("bad input");

test.each([
  ["no event at all", undefined],
  ["null", null],
  ["an event without a type", { held: 1 }],
  ["a type that is no text", { type: 7 }],
  ["an empty type", { type: "" }],
])("%s is refused with chart, state and path, and nothing has changed", async (_name, event) => {
  const one = await engine(keeper);
  await one.start(keeper, { id: "k", input: { held: 1 } });
  const before = await storage.load("k");
  const sent = one.send(keeper, "k", event as never);
  await expect(sent).rejects.toThrow(
    new TypeError('keeper@1, k in state "idle": event.type: expected the name of an event'),
  );
  expect(await storage.load("k")).toEqual(before);
  awaitsOutside("k");
});

test("an input that cannot be kept is refused with chart and path, and no instance is there", async () => {
  const one = await engine(keeper);
  const started = one.start(keeper, { id: "k", input: { held: { socket } } });
  await expect(started).rejects.toBeInstanceOf(UnstorableValue);
  await expect(started).rejects.toThrow(
    /^keeper@1, start of k: (context|event\.input)\.held\.socket cannot be stored: it is a function/,
  );
  expect(await storage.load("k")).toBeNull();
});

test.each([
  ["an event", { type: "HOLD", held: { socket } }, /(context|event)\.held\.socket/],
  ["the input of a promise", { type: "ASK" }, /input of "0\.keeper\.asking"\.socket/],
  ["the input of a child machine", { type: "BEGIN" }, /^event\.input\.socket/],
] as const)(
  "what cannot be kept of %s is refused with chart, state and path, and nothing has changed",
  async (_name, event, path) => {
    const one = await engine(keeper);
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
  },
);
