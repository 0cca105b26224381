/** Stopping an engine: what is in hand may finish, the rest is given back, and nothing goes on behind its back. */
import { setup } from "xstate";
import { expect } from "vitest";
import { EngineStopped, workflow } from "paystate/engine";
import { closingStorage } from "../kit/closing-storage.ts";
import { gate, turns, until } from "../kit/engine-world.ts";
import { job } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;

const { test, engine, running, clock, storage, open, settled, tasksOf } = engineTest("stopping");

test("what is in hand finishes, what it arms is left to the next, and nothing new is taken", async () => {
  const hold = gate();
  const began: string[] = [];
  const jobs = job(async ({ id }) => {
    began.push(id);
    await hold.opened;
    return id;
  });
  const first = await running({ workflows: [jobs], slots: 1 }, "a", "b");
  await until(() => began.length === 1);
  const stopped = first.stop();
  hold.open();
  await stopped;
  expect(await storage.load("a")).toMatchObject({ status: "done" });
  expect(began).toEqual(["a"]);
  await running(jobs);
  await settled();
  expect(began).toEqual(["a", "b"]);
});

test("what does not finish in time is aborted and given back at once, without a crash or a failure", async () => {
  const runs: { readonly crashes: number; readonly failures: number }[] = [];
  let aborted = false;
  const jobs = job(async (_params, { signal, crashes, failures }) => {
    runs.push({ crashes, failures });
    if (runs.length === 1) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      aborted = true;
      throw new Error("aborted");
    }
    return "me";
  });
  const first = await running(jobs, "a");
  const stopped = first.stop({ timeoutMs: 2_000 });
  await turns(20);
  clock.advance(2_000);
  await stopped;
  expect(aborted).toBe(true);
  const next = await running(jobs);
  await settled();
  expect(runs).toEqual([
    { crashes: 0, failures: 0 },
    { crashes: 0, failures: 0 },
  ]);
  expect(await next.read("a")).toMatchObject({ value: "done" });
});

/** Counts its runs. */
function counting() {
  const state = { runs: 0 };
  return Object.assign(state, {
    jobs: job(async ({ id }) => {
      state.runs += 1;
      return id;
    }),
  });
}

test("a claim that comes back after the stop is given back, and nothing runs when stop has resolved", async () => {
  const [counted, asked, answer] = [counting(), gate(), gate()];
  const waiting = await open((real) => ({
    async claim(request) {
      const tasks = await real.claim(request);
      asked.open();
      await answer.opened;
      return tasks;
    },
  }));
  const slow = await engine({ workflows: [counted.jobs], storage: waiting });
  await slow.start(counted.jobs, { id: "a", input: { id: "a" } });
  slow.run();
  await asked.opened;
  const stopped = slow.stop();
  answer.open();
  await stopped;
  await turns(20);
  expect(counted.runs).toBe(0);
  await running(counted.jobs);
  await settled();
  expect(counted.runs).toBe(1);
});

test("while the last work finishes its lease is kept, so that nobody does it a second time", async () => {
  const hold = gate();
  let runs = 0;
  const jobs = job(async () => {
    runs += 1;
    await hold.opened;
    return "me";
  });
  const [first, next] = [await engine(jobs), await engine(jobs)];
  first.run();
  await first.start(jobs, { id: "a", input: { id: "a" } });
  next.run();
  const stopped = first.stop({ timeoutMs: MINUTE });
  for (let third = 0; third < 10; third++) {
    clock.advance(5_000);
    await turns(10);
  }
  expect(runs).toBe(1);
  hold.open();
  await stopped;
  await settled();
  expect(await next.read("a")).toMatchObject({ value: "done" });
  expect(runs).toBe(1);
});

test("D22: a hundred calls that wait at once are no leak to Node, and all end with the engine", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", note);
  const jobs = job(async () => undefined);
  const one = await running(jobs);
  const waits = Promise.allSettled(
    Array.from({ length: 100 }, () => one.waitFor(jobs, "nobody", "final", { mustExist: false })),
  );
  await turns(20);
  await one.stop();
  const ends = await waits;
  await turns(1);
  process.off("warning", note);
  expect(ends.every(({ status }) => status === "rejected")).toBe(true);
  expect(warnings).toEqual([]);
});

test("D22: waitFor without a signal ends when the engine stops, and may be called again", async () => {
  const hold = gate();
  const jobs = job(() => hold.opened.then(() => "me"));
  const one = await running(jobs, "j");
  const never = one.waitFor(jobs, "nobody", "final", { mustExist: false });
  const signalled = one.waitFor(jobs, "nobody", "final", {
    signal: new AbortController().signal,
    mustExist: false,
  });
  const inHand = one.waitFor(jobs, "j", "final");
  const ended = Promise.allSettled([never, signalled, inHand]);
  const stopped = one.stop();
  hold.open();
  await stopped;
  const reason = expect.any(EngineStopped) as unknown;
  expect(await ended).toMatchObject([{ reason }, { reason }, { value: { status: "done" } }]);
  expect(await one.waitFor(jobs, "j", "final")).toMatchObject({ status: "done" });
  await settled();
});

test("L9: what the host has begun before the stop is done to its end, and the stop waits for that", async () => {
  const jobs = job(async () => "nobody");
  await (await engine(jobs)).start(jobs, { id: "a", input: { id: "a" } });
  const hold = gate();
  const waiting = await open((real) => ({ load: (id) => hold.opened.then(() => real.load(id)) }));
  const one = await engine({ workflows: [jobs], storage: waiting });
  const sent = one.send(jobs, "a", { type: "DONE", by: "host" });
  const stopped = one.stop();
  await turns(20);
  hold.open();
  expect(await sent).toMatchObject({ kind: "stepped" });
  await stopped;
  expect(await one.read("a")).toMatchObject({ value: "done" });
  one.run();
  await settled();
});

test("a run that is begun while a stop waits begins behind it: it keeps its own work, and its own stop ends", async () => {
  const hold = gate();
  const runs: string[] = [];
  const jobs = job(async ({ id }, { signal }) => {
    runs.push(id);
    if (id === "a" && runs.length === 1) await hold.opened;
    if (id === "b") await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return id;
  });
  const one = await running(jobs, "a");
  await until(() => runs.length === 1);
  const stopped = one.stop({ timeoutMs: 5_000 });
  one.run();
  await one.start(jobs, { id: "b", input: { id: "b" } });
  await turns(20);
  expect(runs).toEqual(["a"]);
  hold.open();
  await stopped;
  await until(() => runs.length === 2);
  expect(await one.read("a")).toMatchObject({ value: "done" });
  // Its lease is kept for longer than the stop before would have waited.
  for (let at = 0; at < 60; at++) {
    clock.advance(1_000);
    await turns(10);
  }
  expect(runs).toEqual(["a", "b"]);
  const again = one.stop({ timeoutMs: 1_000 });
  await turns(20);
  clock.advance(1_000);
  await again;
  await one.stopInstance("b");
});

test("L9: work that hears no signal asks the storage nothing after the stop; the host's own calls do, and so does a second run", async () => {
  const closing = closingStorage(await open());
  const hold = gate();
  const began: string[] = [];
  const deaf = job(async ({ id }) => {
    began.push(id);
    if (began.length === 1) await hold.opened;
    return id;
  });
  const one = await running({ workflows: [deaf], storage: closing.storage }, "a");
  await until(() => began.length === 1);
  await one.stop({ timeoutMs: 0 });
  expect(await one.read("a")).toMatchObject({ status: "active" });
  await closing.close();
  hold.open();
  await turns(20);
  expect(closing.late).toEqual([]);

  closing.reopen();
  one.run();
  clock.advance(60_000);
  await settled();
  expect(await one.read("a")).toMatchObject({ value: "done" });
  expect(began).toEqual(["a", "a"]);
});

test("a stop whose watches cannot be given back waits for the work in hand all the same, and then rejects", async () => {
  const chart = setup({ actions: { pay: () => {} } }).createMachine({
    id: "paying",
    initial: "open",
    states: {
      open: { entry: "pay", meta: { watches: ["sky"] }, on: { PAID: "paid" } },
      paid: { type: "final" },
    },
  });
  const [begun, ending] = [gate(), gate()];
  const paying = workflow(chart)({
    version: 1,
    watches: { sky: () => "blue" },
    effects: {
      pay: async () => {
        begun.open();
        await ending.opened;
        return { event: { type: "PAID" } };
      },
    },
  });
  const handle = await open();
  const held = gate();
  let isBroken = false;
  const lease: typeof handle.lease = async (request) => {
    if (isBroken && request.leaseMs === 0) throw new Error("busy for a moment");
    const answer = await handle.lease(request);
    if (request.names.some((name) => name.includes("sky"))) held.open();
    return answer;
  };
  const watchers = { sky: { intervalMs: 1_000, poll: async () => [] } };
  const one = await running({ workflows: [paying], watchers, storage: { ...handle, lease } }, "p");
  await Promise.all([begun.opened, held.opened]);
  isBroken = true;
  const stopped = one.stop({ timeoutMs: 5_000 });
  await turns(20);
  ending.open();
  await expect(stopped).rejects.toThrow("busy for a moment");
  expect(await one.read(paying, "p")).toMatchObject({ value: "paid" });
  expect(await tasksOf("p")).toEqual([]);
});
