/** How what fails is tried again: its pauses, its end, and the errors that end it at once. */
import { assign, fromPromise, setup } from "xstate";
import { expect, it } from "vitest";
import { NonRetryable, workflow, type Retry } from "paystate/engine";
import { DEFAULT_RETRY, pauseMs, retryPolicy } from "../../src/workflow/retry.ts";
import { inMemory } from "../kit/adapters.ts";
import { inWorld, turns, type EngineWorld } from "../kit/engine-world.ts";
import { middleRandom } from "../kit/middle-random.ts";
import { jobChart, type Job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;

/** A job whose work throws this at every try, and when it was tried. */
function failing({ clock }: Pick<EngineWorld, "clock">, retry: Retry, thrown: Error = new Error("503")) {
  const began = clock.now();
  const tries: number[] = [];
  const run = async (): Promise<undefined> => {
    tries.push(clock.now() - began);
    throw thrown;
  };
  const jobs: Job = workflow(jobChart)({ version: 1, effects: { work: { run, retry } } });
  return { tries, jobs };
}

/** A chart that invokes a promise which throws this at every try. */
function asking(retry: Retry | undefined, { thrown, hasOnError }: { thrown: Error; hasOnError: boolean }) {
  let calls = 0;
  const chart = setup({
    types: { context: {} as { error: unknown } },
    actors: {
      ask: fromPromise<string>(async () => {
        calls += 1;
        throw thrown;
      }),
    },
  }).createMachine({
    id: "asking",
    context: { error: null },
    initial: "asking",
    states: {
      asking: {
        invoke: {
          src: "ask",
          onDone: "answered",
          ...(hasOnError
            ? { onError: { target: "refused", actions: assign({ error: ({ event }) => event.error }) } }
            : {}),
        },
      },
      answered: { type: "final" },
      refused: { type: "final" },
    },
  });
  const actors = retry === undefined ? {} : { ask: { retry } };
  return { asks: workflow(chart)({ version: 1, actors }), calls: () => calls };
}

const { test, world, running, pass, awaitsOutside } = engineTest("retry");

test("D59 an effect is tried again after the pauses that it says, at most so often, and then is a dead letter with its last error", async () => {
  const { tries, jobs } = failing(world, { firstMs: 500, factor: 3, mostMs: 4_000, atMost: 4 });
  const { deadLetters, failingTasks } = await running(jobs, "j");
  await pass(10 * MINUTE);
  expect(tries).toEqual([0, 500, 2_000, 6_000, 10_000]);
  expect(await failingTasks()).toEqual([]);
  expect(await deadLetters()).toMatchObject([{ kind: "effect", failures: 5, lastError: "503" }]);
  awaitsOutside("j");
});

test("D59 an effect that throws NonRetryable is a dead letter at once", async () => {
  const { tries, jobs } = failing(world, {}, new NonRetryable("no such customer"));
  const { deadLetters } = await running(jobs, "j");
  await pass(10 * MINUTE);
  expect(tries).toEqual([0]);
  expect(await deadLetters()).toMatchObject([{ failures: 1, lastError: "no such customer" }]);
  awaitsOutside("j");
});

test.each([
  ["with onError it is told", true],
  ["without onError it is a dead letter", false],
])("D59 a promise that rejects with NonRetryable is run once: %s", async (_, hasOnError) => {
  const thrown = new NonRetryable("declined");
  const { asks, calls } = asking({ atMost: 5 }, { thrown, hasOnError });
  const { read, deadLetters } = await running(asks, "a");
  await pass(10 * MINUTE);
  expect(calls()).toBe(1);
  expect(await read("a")).toMatchObject(
    hasOnError
      ? { value: "refused", context: { error: { name: "NonRetryable", message: "declined" } } }
      : { value: "asking" },
  );
  const letters = hasOnError ? [] : [{ kind: "invocation", lastError: "declined" }];
  expect(await deadLetters()).toMatchObject(letters);
  awaitsOutside("a");
});

/** An order with lines, each of which is booked by a promise two machines below. */
const booking = setup({
  types: { input: {} as { sku: string }, context: {} as { sku: string } },
  actors: { book: fromPromise<string, { sku: string }>(async ({ input }) => input.sku) },
}).createMachine({
  id: "booking",
  context: ({ input }) => input,
  initial: "asking",
  states: {
    asking: { invoke: { src: "book", input: ({ context }) => context, onDone: "booked", onError: "sold" } },
    booked: { type: "final" },
    sold: { type: "final" },
  },
});
const line = setup({
  types: { input: {} as { sku: string }, context: {} as { sku: string } },
  actors: { booking },
}).createMachine({
  id: "line",
  context: ({ input }) => input,
  initial: "open",
  states: {
    open: { invoke: { id: "b", src: "booking", input: ({ context }) => context, onDone: "done" } },
    done: { type: "final" },
  },
});
const order = setup({ actors: { line } }).createMachine({
  id: "order",
  type: "parallel",
  states: Object.fromEntries(
    ["a", "b", "c"].map((sku) => [
      sku,
      {
        initial: "open",
        states: {
          open: { invoke: { id: sku, src: "line" as const, input: { sku }, onDone: "done" } },
          done: { type: "final" },
        },
      },
    ]),
  ),
});

it("D60 a promise two machines below has a limit and a retry of its own", () =>
  inWorld(inMemory, async ({ running, pass }) => {
    let atOnce = 0;
    const seen = { most: 0, calls: 0 };
    const book = fromPromise<string, { sku: string }>(async ({ input }) => {
      seen.most = Math.max(seen.most, (atOnce += 1));
      seen.calls += 1;
      await turns(20);
      atOnce -= 1;
      if (seen.calls <= 3) throw new Error(`${input.sku}: 429`);
      return input.sku;
    });
    const provided = line.provide({ actors: { booking: booking.provide({ actors: { book } }) } });
    const orders = workflow(order.provide({ actors: { line: provided } }))({
      version: 1,
      actors: {
        line: {
          actors: {
            booking: {
              actors: {
                book: {
                  retry: { firstMs: 100, atMost: 3 },
                  limit: ({ sku }) => ({ key: `shop ${sku.length}`, atMost: 1 }),
                },
              },
            },
          },
        },
      },
    });
    const { read } = await running(orders, "o");
    await pass(MINUTE);
    expect(await read("o")).toMatchObject({ status: "done" });
    expect(await read("o/a/b")).toMatchObject({ value: "booked" });
    expect(seen.most).toBe(1);
    expect(seen.calls).toBeGreaterThan(3);
  }));

it("D60 what no actor takes is refused by name, at any depth, and does not compile", () => {
  const registered = (actors: object) => () => workflow(order)({ version: 1, actors });
  expect(registered({ lien: {} })).toThrow("actors.lien: the chart has no such actor");
  expect(registered({ line: { limit: { key: "k", atMost: 1 } } })).toThrow(
    "actors.line.limit: not known: a machine takes migrate and actors",
  );
  expect(registered({ line: { actors: { booking: { actors: { book: { retries: 2 } } } } } })).toThrow(
    /"order\/line\/booking" cannot be registered:\n- actors.book.retries: not known: a promise takes retry and limit/,
  );
  expect(() =>
    // @ts-expect-error the child has no such promise
    workflow(order)({ version: 1, actors: { line: { actors: { boking: {} } } } }),
  ).toThrow("actors.boking: the chart has no such actor");
});

it("D59 the pauses of 300 that failed together lie a fifth around their middle, and no two in ten are alike", () => {
  let drawnSo = 0;
  const random = { bytes: () => Uint8Array.of((drawnSo += 37) % 256, (drawnSo * 11) % 256) };
  const pauses = Array.from({ length: 300 }, () => pauseMs(DEFAULT_RETRY, 3, random));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(6_400);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(9_600);
  expect(new Set(pauses).size).toBeGreaterThan(100);
  expect(pauseMs(DEFAULT_RETRY, 3, middleRandom)).toBe(8_000);
  expect(pauseMs(retryPolicy({ firstMs: 90_000 }), 7_000, middleRandom)).toBe(90_000);
});

it("D59 a retry that says nothing sensible is refused by name", () => {
  const registered = (retry: unknown) => () =>
    workflow(jobChart)({
      version: 1,
      effects: { work: { run: async () => undefined, retry: retry as Retry } },
    });
  expect(registered({ firstMs: 0 })).toThrow("effects.work.retry.firstMs: expected a whole number from 1");
  expect(registered({ mostMs: 10 })).toThrow("effects.work.retry.mostMs");
  expect(registered({ factor: 0.5 })).toThrow("effects.work.retry.factor");
  expect(registered({ atMost: 1.5 })).toThrow("effects.work.retry.atMost");
  expect(registered({ attempts: 3 })).toThrow("effects.work.retry.attempts: not known");
  expect(registered(5)).toThrow("effects.work.retry: expected { firstMs, factor, mostMs, atMost }");
});
