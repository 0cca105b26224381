/** Answers that stay as they are: what cannot be kept is not asked for again. */
import { assign, fromPromise, setup, spawnChild } from "xstate";
import { expect } from "vitest";
import { currentRun, workflow, type TellParams } from "paystate/engine";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;
const socket = { send: () => {} };

/** A chart that buys something, whose receipt holds what cannot be stored. */
function shop(hasOnError: boolean, pay = () => {}) {
  const keys: string[] = [];
  const chart = setup({
    types: { context: {} as { error: unknown } },
    actors: {
      buy: fromPromise(async () => {
        keys.push(currentRun().key);
        pay();
        return { receipt: 7, socket };
      }),
    },
  }).createMachine({
    id: "shop",
    context: { error: null },
    initial: "buying",
    states: {
      buying: {
        invoke: {
          src: "buy",
          onDone: "bought",
          ...(hasOnError
            ? { onError: { target: "unclear", actions: assign({ error: ({ event }) => event.error }) } }
            : {}),
        },
      },
      bought: { type: "final" },
      unclear: { type: "final" },
    },
  });
  return { keys, shops: workflow(chart)({ version: 1 }) };
}

/** Tells a counter, by a message, what it is started with. */
const tellers = workflow(
  setup({
    types: { context: {} as { type: string }, input: {} as { type: string } },
    actions: { tell: (_, _params: TellParams) => {} },
  }).createMachine({
    id: "teller",
    context: ({ input }) => input,
    entry: {
      type: "tell",
      params: ({ context: { type } }) => ({ machine: "counter", id: "c", event: { type } }),
    },
    initial: "done",
    states: { done: { type: "final" } },
  }),
)({ version: 1, effects: {} });

/** A counter whose context holds what cannot be stored behind BREAK, and behind its timer. */
const counter = setup({
  types: {
    context: {} as { count: number; held?: unknown },
    events: {} as { type: "ADD" } | { type: "BREAK" } | { type: "LATER" },
  },
  delays: { patience: 1_000 },
}).createMachine({
  id: "counter",
  context: { count: 0 },
  initial: "open",
  on: {
    ADD: { actions: assign({ count: ({ context }) => context.count + 1 }) },
    BREAK: { actions: assign({ held: () => socket }) },
  },
  states: {
    open: { on: { LATER: "late" } },
    late: { after: { patience: { target: "open", actions: assign({ held: () => socket }) } } },
  },
});

const { test, engine, running, settled, pass, awaitsOutside } = engineTest("final answers");

test("D74 a promise whose output cannot be kept is rejected: onError is told the path, and it is not called again", async () => {
  const { keys, shops } = shop(true);
  const { read, deadLetters } = await running(shops, "s");
  await pass(10 * MINUTE);
  expect(keys).toHaveLength(1);
  const { value, context } = (await read("s")) ?? {};
  expect(value).toBe("unclear");
  expect(String(context?.["error"])).toContain("event.output.socket");
  expect(await deadLetters()).toEqual([]);
});

test("D74 without onError it is a dead letter at once, with its error, and an operator runs it again under the same key", async () => {
  const { keys, shops } = shop(false);
  const { read, deadLetters, failingTasks, retry } = await running(shops, "s");
  await pass(10 * MINUTE);
  expect(keys).toHaveLength(1);
  expect(await read("s")).toMatchObject({ value: "buying" });
  expect(await failingTasks()).toEqual([]);
  const [letter, ...more] = await deadLetters();
  expect(more).toEqual([]);
  expect(letter).toMatchObject({ instance: "s", kind: "invocation", failures: 1, crashes: 0 });
  expect(letter?.lastError).toContain("event.output.socket.send cannot be stored");
  expect(await retry(letter?.id ?? "")).toBe(true);
  await pass(MINUTE);
  expect(keys).toEqual([keys[0], keys[0]]);
  awaitsOutside("s");
});

test.each([
  ["holds a function", () => socket, "context.book.send cannot be stored"],
  ["is too long", () => "x".repeat(9_000_000), "context.book cannot be stored: it takes 9.00 MB"],
  ["is a child that none may be", null, "a child cannot have the id __proto__"],
] as const)(
  "D74 a promise that succeeded is not told as failed, nor run again, where what onDone makes of it %s: a dead letter at once",
  async (_, made, said) => {
    let paid = 0;
    const chart = setup({
      types: { context: {} as { book: unknown } },
      actors: { pay: fromPromise(async () => ({ receipt: (paid += 1) })) },
    }).createMachine({
      id: "payer",
      context: { book: null },
      initial: "paying",
      states: {
        paying: {
          invoke: {
            src: "pay",
            onDone: {
              target: "paid",
              actions: made === null ? spawnChild("pay", { id: "__proto__" }) : assign({ book: made }),
            },
            onError: "otherProvider",
          },
        },
        paid: { type: "final" },
        otherProvider: { type: "final" },
      },
    });
    const payers = workflow(chart)({ version: 1 });
    const { read, deadLetters, failingTasks } = await running(payers, "p");
    await pass(10 * MINUTE);
    expect(paid).toBe(1);
    expect(await read("p")).toMatchObject({ value: "paying", status: "active" });
    expect(await failingTasks()).toEqual([]);
    const letters = await deadLetters();
    expect(letters).toMatchObject([{ instance: "p", kind: "invocation", failures: 1, crashes: 0 }]);
    expect(letters[0]?.lastError).toContain(said);
    awaitsOutside("p");
  },
);

test.each(["done", "failed"] as const)(
  "D74 a promise that has %s runs no more while a function of the chart throws in the step behind it: its end is told again",
  async (end) => {
    let calls = 0;
    let isBroken = true;
    const told = (): string => {
      if (isBroken) throw new TypeError("no reader of receipts");
      return end;
    };
    const chart = setup({
      types: { context: {} as { told: string } },
      actors: {
        pay: fromPromise(async () => {
          calls += 1;
          if (end === "failed") throw new Error("402");
          return { receipt: new Date(7) };
        }),
      },
    }).createMachine({
      id: "payer",
      context: { told: "" },
      initial: "paying",
      states: {
        paying: {
          invoke: {
            src: "pay",
            onDone: { target: "over", actions: assign({ told }) },
            onError: { target: "over", actions: assign({ told }) },
          },
        },
        over: { type: "final" },
      },
    });
    // The tries of the promise itself are used up by then.
    const payers = workflow(chart)({ version: 1, actors: { pay: { retry: { atMost: 0 } } } });
    const { stop, read, failingTasks } = await running(payers, "p");
    await pass(2 * MINUTE);
    expect(calls).toBe(1);
    const [failing] = await failingTasks();
    expect(failing).toMatchObject({ instance: "p", kind: "invocation" });
    expect(failing?.failures).toBeGreaterThan(3);
    expect(failing?.lastError).toContain("no reader of receipts");
    await stop();
    isBroken = false;
    await running(payers);
    await pass(10 * MINUTE);
    await settled();
    expect(calls).toBe(1);
    expect(await read("p")).toMatchObject({ status: "done", context: { told: end } });
  },
);

test("D74 an effect whose event cannot be kept is a dead letter at once", async () => {
  let runs = 0;
  const jobs = job(async () => {
    runs += 1;
    return { event: { type: "DONE", by: "me", held: socket } };
  });
  const { deadLetters } = await running(jobs, "j");
  await pass(10 * MINUTE);
  expect(runs).toBe(1);
  expect(await deadLetters()).toMatchObject([{ kind: "effect", failures: 1 }]);
  awaitsOutside("j");
});

test("D74 a message whose step cannot be kept is a dead letter at once, those behind it go on, and the instance can be stopped", async () => {
  const counters = workflow(counter)({ version: 1 });
  const { run, start, read, deadLetters, stopInstance } = await engine(
    { workflows: [counters, tellers] },
    "c",
  );
  run();
  for (const type of ["BREAK", "ADD"] as const) {
    await start(tellers, { id: type, input: { type } });
    await settled();
  }
  await settled();
  expect((await read("c"))?.context).toEqual({ count: 1 });
  expect(await deadLetters()).toMatchObject([{ kind: "message", name: "BREAK", failures: 1 }]);
  expect(await stopInstance("c")).toBe("stopped");
  awaitsOutside("c");
});

test("D74 so is a timer", async () => {
  const counters = workflow(counter)({ version: 1 });
  const { run, send, read, deadLetters } = await engine(counters, "c");
  run();
  await send(counters, "c", { type: "LATER" });
  await pass(10 * MINUTE);
  expect(await deadLetters()).toMatchObject([{ kind: "timer", failures: 1 }]);
  await send(counters, "c", { type: "ADD" });
  expect(await read("c")).toMatchObject({ value: "late", context: { count: 1 } });
  awaitsOutside("c");
});
