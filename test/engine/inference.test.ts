/** What TypeScript knows of a registered chart: events, input, effects and the options of its actors. */
import { createMachine, fromPromise, setup } from "xstate";
import { expect, test } from "vitest";
import { column, createEngine, defineTable, type Row, workflow } from "paystate/engine";
import { memoryStorage } from "paystate/storage/memory";

const chart = setup({
  types: {
    context: {} as { url: string },
    input: {} as { url: string },
    events: {} as { type: "GO"; times: number },
  },
  actors: { load: fromPromise<string, { url: string }>(async ({ input }) => input.url) },
  actions: { note: (_, _params: { text: string }) => {} },
}).createMachine({
  id: "typed",
  context: ({ input }) => input,
  initial: "idle",
  states: {
    idle: { on: { GO: "loading" }, entry: { type: "note", params: { text: "hello" } } },
    loading: { invoke: { src: "load", input: ({ context }) => context } },
  },
});

test("wrong events, inputs, effects and actor options do not compile, right ones are taken", async () => {
  const typed = workflow(chart)({
    version: 1,
    effects: { note: async ({ text }) => void text.length },
    actors: { load: { retries: 1, limit: ({ url }) => ({ key: url, atMost: 1 }) } },
  });
  const engine = createEngine({ storage: memoryStorage(), workflows: [typed] });
  await engine.start(typed, { id: "a", input: { url: "u" } });
  expect(await engine.send(typed, "a", { type: "GO", times: 2 })).toMatchObject({ kind: "stepped" });

  const refusedByTheCompiler = async (): Promise<void> => {
    // @ts-expect-error the input has a url
    await engine.start(typed, { id: "b", input: {} });
    // @ts-expect-error GO has a number
    await engine.send(typed, "a", { type: "GO", times: "2" });
  };
  expect(refusedByTheCompiler).toBeTypeOf("function");
  // @ts-expect-error the chart names no such effect
  expect(() => workflow(chart)({ version: 1, effects: { note: "setup", nte: "setup" } })).toThrow(
    "effects.nte",
  );
  // @ts-expect-error effects are given, and note is forgotten
  expect(() => workflow(chart)({ version: 1, effects: {} })).toThrow("effects.note");
  // @ts-expect-error the chart names no such actor
  expect(() => workflow(chart)({ version: 1, actors: { laod: { retries: 1 } } })).toThrow("actors.laod");
  expect(() => workflow(chart)({ version: 1, actors: { load: { retries: -1 } } })).toThrow(
    "actors.load.retries",
  );
});

test("a chart of createMachine alone is taken, with events of any type", async () => {
  const plain = workflow(
    createMachine({ id: "plain", initial: "a", states: { a: { on: { GO: "b" } }, b: { type: "final" } } }),
  )({ version: 1 });
  const engine = createEngine({ storage: memoryStorage(), workflows: [plain] });
  await engine.start(plain, { id: "p", input: undefined });
  await engine.send(plain, "p", { type: "GO" });
  expect(await engine.read("p")).toMatchObject({ value: "b", status: "done" });
});

test("a column has the type that it is given, where its kind can keep it", () => {
  const orders = defineTable("orders", {
    columns: {
      id: "text",
      state: column<"open" | "paid">("text"),
      tags: column<readonly string[] | null>("json?"),
    },
  });
  const order: Row<typeof orders> = { id: "o-1", state: "open", tags: null };
  // @ts-expect-error no such state
  const wrong: Row<typeof orders> = { ...order, state: "lost" };
  // @ts-expect-error a column of texts takes no null
  column<string | null>("text");
  // @ts-expect-error numbers are no text
  column<number>("text");
  expect([orders.columns["state"], orders.columns["tags"], wrong.id]).toEqual(["text", "json?", "o-1"]);
});
