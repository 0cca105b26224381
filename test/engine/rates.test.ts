/** Rates: how many effects and promises of one key begin within a span of time, over all processes. */
// modules: rates
import { fromPromise, setup } from "xstate";
import { expect, it } from "vitest";
import { createEngine, workflow, type OwnLimit } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { commitOne } from "../../storage/decided.ts";
import type { AnyCommit } from "../../storage/storage.ts";
import { storedStarts } from "../../src/engine/modules/rates/rate-limit.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { givenLimits, limitsFor, type RatedLimit } from "../../src/workflow/own-limit.ts";
import { mortalProcess } from "../kit/mortal.ts";
import { handlerOf, jobChart, type Work } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const SECOND = 1_000;
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const rated = (run: Work, limit: OwnLimit<{ readonly id: string }>) =>
  workflow(jobChart)({ version: 1, effects: { work: { run: handlerOf(run), limit } } });

/** The most of these moments within any span of so many milliseconds. */
const mostWithin = (ms: number, moments: readonly number[]): number =>
  Math.max(...moments.map((from) => moments.filter((at) => at >= from && at < from + ms).length));

const { test, engine, running, clock, storage, open, settled, pass, tasksOf } = engineTest("rates");

test("F5: a rate of ten a second never sends eleven within a second from two engines, in the order of asking", async () => {
  const begun: { id: string; at: number }[] = [];
  const limited = rated(
    async ({ id }) => {
      begun.push({ id, at: clock.now() });
      return { event: { type: "DONE", by: id } };
    },
    { key: "stripe", atMost: 4, rate: { count: 10, perMs: SECOND } },
  );
  const [one, other] = [await engine(limited), await engine(limited)];
  const from = clock.now();
  const ids = range(35).map((index) => `j${String(index).padStart(2, "0")}`);
  for (const id of ids) await one.start(limited, { id, input: { id } });
  one.run();
  other.run();
  await pass(450);
  expect(begun).toHaveLength(10);
  await pass(2_550);
  expect(begun.map(({ at }) => at - from)).toEqual(ids.map((_, index) => SECOND * Math.floor(index / 10)));
  for (const second of range(4)) {
    const within = begun.slice(10 * second, 10 * second + 10).map(({ id }) => id);
    expect(within.toSorted()).toEqual(ids.slice(10 * second, 10 * second + 10));
  }
  const tasks = await tasksOf(ids[0] ?? "");
  expect(tasks).toEqual([]);
});

test("F5: a run whose process died between the commit of its start and its handler has counted", async () => {
  const begun: number[] = [];
  const limited = rated(
    async ({ id }) => {
      begun.push(clock.now());
      return { event: { type: "DONE", by: id } };
    },
    { key: "stripe", atMost: 8, rate: { count: 2, perMs: 10 * SECOND } },
  );
  const armed = await engine(limited);
  for (const id of range(6).map(String)) await armed.start(limited, { id, input: { id } });
  const startsOf = async () =>
    (await storage.find({ table: storedStarts, key: "stripe" }))[0]?.starts.length ?? 0;
  await storage.install([storedStarts]);
  for (const death of range(3)) {
    const dying = mortalProcess();
    const handle = dying.within(await open());
    const killing = {
      ...handle,
      async commit(items: Parameters<typeof handle.commit>[0]) {
        const answers = await handle.commit(items);
        if (!items.some(({ writes = [] }) => writes.some(({ table }) => table === storedStarts.name))) {
          return answers;
        }
        dying.kill();
        begun.push(clock.now());
        return new Promise<never>(() => {});
      },
    };
    const victim = createEngine({
      storage: killing,
      workflows: [limited],
      clock: dying.timedBy(clock),
      logger: silentLogger,
    });
    victim.run();
    await dying.died;
    expect(await startsOf(), `death ${death}`).toBeGreaterThan(0);
    clock.advance(20 * SECOND);
  }
  armed.run();
  await settled();
  await pass(4 * 3_600 * SECOND);
  for (const id of range(6).map(String)) expect((await storage.load(id))?.status).toBe("done");
  expect(mostWithin(10 * SECOND, begun)).toBeLessThanOrEqual(2);
});

test("F5: a promise begins under its rate, and one after the clock was set back is not kept waiting by it", async () => {
  const begun: number[] = [];
  const chart = setup({
    actors: {
      call: fromPromise(async () => {
        begun.push(clock.now());
      }),
    },
  }).createMachine({
    id: "calls",
    initial: "calling",
    states: { calling: { invoke: { src: "call", onDone: "done" } }, done: { type: "final" } },
  });
  const limit = { key: "api", atMost: 5, rate: { count: 1, perMs: SECOND } };
  const calls = workflow(chart)({ version: 1, actors: { call: { limit } } });
  const one = await running(calls);
  const from = clock.now();
  for (const id of ["1", "2"]) await one.start(calls, { id, input: undefined });
  await pass(2 * SECOND);
  expect(begun.map((at) => at - from)).toEqual([0, SECOND]);
  clock.put(-3_600 * SECOND);
  const setBack = clock.now();
  await one.start(calls, { id: "3", input: undefined });
  await pass(2 * SECOND);
  expect((begun[2] ?? Infinity) - setBack).toBeLessThanOrEqual(SECOND);
});

test("D93: what others have begun while a process was frozen on its way to a rate counts from the time at which it began", async () => {
  const begun: number[] = [];
  const limited = rated(
    async ({ id }) => {
      begun.push(clock.now());
      return { event: { type: "DONE", by: id } };
    },
    { key: "api", atMost: 5, rate: { count: 1, perMs: 60 * SECOND } },
  );
  const handle = await open();
  let isFrozen = true;
  const find: typeof handle.find = async (query) => {
    if (isFrozen && query.table.name === storedStarts.name && "key" in query) {
      isFrozen = false;
      clock.advance(10 * SECOND);
      const row = { id: "api", version: 1, starts: [clock.now()], override: null };
      await commitOne<AnyCommit>(handle, { writes: [{ table: storedStarts.name, insert: row }] });
    }
    return handle.find(query);
  };
  const one = await running({ storage: { ...handle, find }, workflows: [limited] });
  const from = clock.now();
  await one.start(limited, { id: "a", input: { id: "a" } });
  await pass(20 * SECOND);
  await one.start(limited, { id: "b", input: { id: "b" } });
  await pass(120 * SECOND);
  expect(begun.map((at) => at - from)).toEqual([70 * SECOND, 130 * SECOND]);
});

it("a rate that is none is refused with its field, at registration or where a function returns it", async () => {
  const wrong: readonly [rate: unknown, expected: string][] = [
    [{ count: 0, perMs: 1 }, "rate.count is 0"],
    [{ count: 1_001, perMs: 1 }, "from 1 to 1000"],
    [{ count: 1, perMs: 0.5 }, "rate.perMs is 0.5"],
    [{ count: 1, perMs: 86_400_001 }, "from 1 to 86400000"],
    [null, "limit stripe: rate: expected { count, perMs }"],
  ];
  for (const [rate, expected] of wrong) {
    const limit = { key: "stripe", atMost: 1, rate } as RatedLimit;
    expect(() => rated(async () => undefined, limit)).toThrow(expected);
    const jobs = rated(
      async () => undefined,
      () => limit,
    );
    const engine = createEngine({
      storage: await sqliteStorage(":memory:"),
      workflows: [jobs],
      logger: silentLogger,
    });
    await expect(engine.start(jobs, { id: "1", input: { id: "1" } })).rejects.toThrow(expected);
  }
});

it("a limit that would limit nothing is refused: without a key, with another field, or none at all", () => {
  const expected = "limit: expected { key, atMost }, two of them in a list, or a function that returns this";
  for (const none of [null, 5, Promise.resolve({ key: "k", atMost: 1 })]) {
    const message = none instanceof Promise ? "limit: key: expected text" : expected;
    expect(() => limitsFor(() => none as never, {})).toThrow(message);
  }
  for (const key of [undefined, null, "", 7, "half 👍".slice(0, 6)]) {
    expect(() => limitsFor({ key, atMost: 1 } as never, {})).toThrow("limit: key: expected text that is not");
  }
  expect(() => limitsFor({ key: "k", atMost: 1, rates: [] } as never, {})).toThrow(
    "limit k: rates is not known: expected only key, atMost, rate, priority",
  );
});

it("a key that a program names twice at a run is refused, and the run does not wait for ever", () => {
  const limit = { key: "stripe", atMost: 1, rate: { count: 1, perMs: 1 } };
  expect(() => givenLimits([limit, limit], undefined)).toThrow("limit stripe is there twice");
});
