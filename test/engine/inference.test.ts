/** What TypeScript knows of a registered chart: events, input, effects and the options of its actors. */
import { assign, createMachine, fromPromise, setup } from "xstate";
import { expect, test } from "vitest";
import { column, createEngine, defineTable, type Row, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";

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
    actors: { load: { retry: { atMost: 1 }, limit: ({ url }) => ({ key: url, atMost: 1 }) } },
  });
  const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [typed] });
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
  expect(() => workflow(chart)({ version: 1, actors: { laod: { retry: { atMost: 1 } } } })).toThrow(
    "actors.laod",
  );
  expect(() => workflow(chart)({ version: 1, actors: { load: { retry: { atMost: -1 } } } })).toThrow(
    "actors.load.retry.atMost",
  );
  // @ts-expect-error a promise takes no such option
  expect(() => workflow(chart)({ version: 1, actors: { load: { retries: 2 } } })).toThrow(
    "actors.load.retries: not known: a promise takes retry and limit",
  );
});

test("D61 a named assign of setup stands beside effects as what it is, and no handler takes its place", async () => {
  const counter = setup({
    types: { context: {} as { count: number }, events: {} as { type: "ADD" } },
    actions: {
      count: assign({ count: ({ context }) => context.count + 1 }),
      mail: (_, _params: { to: string }) => {},
    },
  }).createMachine({
    id: "counter",
    context: { count: 0 },
    on: { ADD: { actions: ["count", { type: "mail", params: { to: "ada" } }] } },
  });
  const mails: string[] = [];
  const mail = async ({ to }: { to: string }): Promise<undefined> => void mails.push(to);
  const counters = workflow(counter)({ version: 1, effects: { count: "setup", mail } });
  const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [counters] });
  engine.run();
  await engine.start(counters, { id: "c", input: undefined });
  await engine.send(counters, "c", { type: "ADD" });
  await engine.settled();
  await engine.stop();
  expect((await engine.read(counters, "c"))?.context).toEqual({ count: 1 });
  expect(mails).toEqual(["ada"]);
  const handled = { count: async () => undefined, mail };
  expect(() => workflow(counter)({ version: 1, effects: handled })).toThrow(
    'effects.count: setup makes it a part of the step, so it is "setup"',
  );
});

test("a chart of createMachine alone is taken, with events of any type", async () => {
  const plain = workflow(
    createMachine({ id: "plain", initial: "a", states: { a: { on: { GO: "b" } }, b: { type: "final" } } }),
  )({ version: 1 });
  const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [plain] });
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
