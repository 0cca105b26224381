/** Whatever is thrown, and however a listener fails: the task is listed as failing, and the process goes on. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { fromPromise, setup } from "xstate";
import { createEngine, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { turns, until } from "../kit/engine-world.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const throws = (): never => {
  throw new Error("read me not");
};

const bare = Object.create(null) as object;

const trap = new Proxy(new Error("behind a trap"), {
  get: throws,
  has: throws,
  getPrototypeOf: throws,
  ownKeys: throws,
  getOwnPropertyDescriptor: throws,
});

const THROWN: readonly (readonly [string, unknown])[] = [
  ["undefined", undefined],
  ["a symbol", Symbol("lost")],
  ["an object without a prototype", Object.assign(Object.create(null), { code: 7 })],
  ["an object whose toString throws", { toString: throws }],
  ["an error whose message throws", Object.defineProperty(new Error("gone"), "message", { get: throws })],
  ["an error whose message is no text", Object.assign(new Error("gone"), { message: bare })],
  ["a proxy that lets nothing be read", trap],
  ["a revoked proxy", revoked()],
];

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const asking = (what: () => unknown) =>
  workflow(
    setup({
      actors: {
        ask: fromPromise(async () => {
          throw what();
        }),
      },
    }).createMachine({
      id: "asking",
      initial: "waiting",
      states: { waiting: { invoke: { src: "ask", onError: "told" } }, told: { type: "final" } },
    }),
  )({ version: 1 });

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(() => {
  process.off("unhandledRejection", note);
});

const { test, engine, running, settled, pass } = engineTest("thrown values");

test.each(THROWN)(
  "D16: an effect that throws %s is listed as failing, and tried again",
  async (_name, thrown) => {
    let runs = 0;
    const jobs = job(async () => {
      runs += 1;
      if (runs === 1) throw thrown;
      return "second";
    });
    const { failingTasks, read } = await running(jobs, "j");
    await settled();
    expect(await failingTasks()).toMatchObject([{ failures: 1 }]);
    await pass(1_000);
    expect(await read("j")).toMatchObject({ status: "done" });
    expect(unhandled).toEqual([]);
  },
);

test.each(THROWN)("D16: a chart with onError is told of %s", async (_name, thrown) => {
  const asked = asking(() => thrown);
  const { read } = await running(asked, "a");
  await settled();
  expect(await read("a")).toMatchObject({ value: "told" });
  expect(unhandled).toEqual([]);
});

test("D16: a subscriber whose promise rejects is logged, and disturbs nobody", async () => {
  const lines: string[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (_: object, line: string) => lines.push(line) };
  const jobs = job(async () => "one");
  const one = await engine({ workflows: [jobs], logger });
  const failing: () => unknown = async () => {
    await turns(1);
    throw bare as unknown;
  };
  one.subscribe(failing);
  one.run();
  await one.start(jobs, { id: "j", input: { id: "j" } });
  await settled();
  await until(() => lines.length === 2);
  expect(lines).toEqual(["a subscriber failed", "a subscriber failed"]);
  expect(unhandled).toEqual([]);
});

it("D16: a clock whose sleep rejects is logged once, and work is done by the machine's timers", async () => {
  const lines: string[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (_: object, line: string) => lines.push(line) };
  const clock = {
    now: () => Date.now(),
    sleep: async () => {
      await turns(1);
      throw bare as unknown;
    },
  };
  const waiting = workflow(
    setup({}).createMachine({
      id: "waiting",
      initial: "here",
      states: { here: { after: { 30: "over" } }, over: { type: "final" } },
    }),
  )({ version: 1 });
  const one = createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: [waiting],
    logger,
    clock,
    keep: { finished: "1h" }, // modules: retention
  });
  one.run();
  await one.start(waiting, { id: "w", input: undefined });
  expect(await one.waitFor(waiting, "w", "final")).toMatchObject({ value: "over" });
  await one.stop();
  expect(new Set(lines)).toEqual(
    new Set(["the sleep of the clock failed: the machine's timer waits instead"]),
  );
  expect(unhandled).toEqual([]);
});
