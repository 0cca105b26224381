/** Effects that throw, that are overtaken, and that belong to charts which are not there: never lost, never forced. */
import { setup } from "xstate";
import { expect } from "vitest";
import { startOf, workflow } from "paystate/engine";
import { job, jobChart, type Job } from "./job.ts";
import { taskIdAt } from "../kit/task-ids.ts";
import { engineTest } from "../kit/engine-test.ts";

const MINUTE = 60_000;

const { test, engine, running, clock, storage, settled, pass } = engineTest("effects");

test("E10: an effect that throws comes back after 1, 2, 4 … and at most 60 seconds, under one key, until it succeeds", async () => {
  const began = clock.now();
  const runs: { readonly at: number; readonly key: string; readonly failures: number }[] = [];
  const broken = job(async (_params, { key, failures, crashes }) => {
    expect(crashes).toBe(0);
    runs.push({ at: clock.now() - began, key, failures });
    if (runs.length <= 9) throw new Error("503");
    return "me";
  });
  const { read } = await running(broken, "j");
  await pass(10 * MINUTE);
  const pauses = runs.slice(1).map(({ at }, index) => (at - (runs[index]?.at ?? 0)) / 1_000);
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  expect(runs.map(({ failures }) => failures)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(new Set(runs.map(({ key }) => key))).toEqual(new Set([await taskIdAt(storage, "j")]));
  expect(await read("j")).toMatchObject({ value: "done" });
});

test("an outcome that was concluded before the last step of its instance is not committed after it either: the effect looks again", async () => {
  const looks: number[] = [];
  const ending: Job = job(async ({ id }) => {
    if (id !== "e") return id;
    const expectedVersion = (await storage.load(id))?.version ?? 0;
    if (looks.push(expectedVersion) === 1) await send(ending, id, { type: "DONE", by: "another" });
    const child = `child of ${expectedVersion}`;
    const starts = [startOf(ending, child, { id: child })];
    return { expectedVersion, starts, event: { type: "DONE", by: "me" } };
  });
  const { send, start, read } = await running(ending);
  await start(ending, { id: "e", input: { id: "e" } });
  await settled();
  expect(looks).toEqual([1, 2]);
  expect(await read("child of 1")).toBeNull();
  expect(await read("child of 2")).toMatchObject({ value: "done" });
});

test.each(["an id that is there", "one id twice"])(
  "D51: an effect that starts %s is told so with the id, and says what becomes of it",
  async (which) => {
    const child = job(async ({ id }) => id);
    const chart = setup({
      types: { events: {} as { type: "STARTED" } | { type: "TAKEN"; by: string } },
      actions: { batch: () => {} },
    }).createMachine({
      id: "batch",
      initial: "starting",
      states: {
        starting: { entry: "batch", on: { STARTED: "started", TAKEN: "taken" } },
        started: { type: "final" },
        taken: { type: "final" },
      },
    });
    const told: unknown[] = [];
    let runs = 0;
    const batches = workflow(chart)({
      version: 1,
      effects: {
        batch: async () => {
          runs += 1;
          return {
            event: { type: "STARTED" },
            starts: ["a", which === "one id twice" ? "a" : "there"].map((id) => startOf(child, id, { id })),
            refused(refusal) {
              told.push(refusal);
              return { type: "TAKEN", by: refusal.kind };
            },
          };
        },
      },
    });
    const { run, start, read } = await engine({ workflows: [batches, child] });
    await start(child, { id: "there", input: { id: "there" } });
    await start(batches, { id: "b", input: undefined });
    run();
    await settled();
    expect(await read("b")).toMatchObject({ value: "taken" });
    expect(told).toEqual([{ kind: "exists", id: which === "one id twice" ? "a" : "there" }]);
    expect([runs, await read("a")]).toEqual([1, null]);
  },
);

test("D51, D83: what an effect without a word of it fails by names the id, and it is dropped once its instance has ended", async () => {
  const child = job(async ({ id }) => id);
  const chart = setup({ actions: { spawn: () => {} } }).createMachine({
    id: "spawning",
    initial: "spawning",
    states: { spawning: { entry: "spawn", on: { STOP: "stopped" } }, stopped: { type: "final" } },
  });
  const spawning = workflow(chart)({
    version: 1,
    effects: { spawn: async () => ({ starts: [startOf(child, "there", { id: "there" })] }) },
  });
  const one = await engine({ workflows: [spawning, child] });
  await one.start(child, { id: "there", input: { id: "there" } });
  await one.start(spawning, { id: "s", input: undefined });
  one.run();
  await settled();
  const [failing] = await one.failingTasks();
  expect(failing?.lastError).toContain('{"kind":"exists","id":"there"}');
  expect(await one.drop(failing?.id ?? "")).toBe(false);
  await one.send(spawning, "s", { type: "STOP" });
  expect(await one.drop(failing?.id ?? "")).toBe(true);
  expect(await one.failingTasks()).toEqual([]);
  expect(await one.removeInstance("s")).toBe("removed");
});

test("D11: a fractional delay is rounded up, and a negative one is none", async () => {
  const chart = setup({ delays: { fraction: () => 0.4, past: () => -5 } }).createMachine({
    id: "delayed",
    initial: "first",
    states: {
      first: { after: { fraction: "second" } },
      second: { after: { past: "third" } },
      third: { after: { 10.2: "done" } },
      done: { type: "final" },
    },
  });
  const delayed = workflow(chart)({ version: 1 });
  const began = clock.now();
  const one = await running(delayed, "d");
  expect((await one.pending("d")).timers).toMatchObject([{ dueAt: began + 1 }]);
  await settled();
  expect(await one.read("d")).toMatchObject({ value: "first" });
  await pass(1);
  expect(await one.read("d")).toMatchObject({ value: "third" });
  expect((await one.pending("d")).timers).toMatchObject([{ dueAt: began + 12 }]);
  await pass(11);
  const steps = await one.history("d");
  expect(steps.map(({ value, at }) => [value, at - began])).toEqual([
    ["first", 0],
    ["second", 1],
    ["third", 1],
    ["done", 12],
  ]);
});

const newer = (version: number, ran: string[]) =>
  workflow(jobChart)({
    version,
    effects: {
      work: async ({ id }) => {
        ran.push(`${id} by ${version}`);
        return { event: { type: "DONE", by: String(version) } };
      },
    },
  });

test("an instance of an unknown version is left untouched, and its tasks wait for who knows it", async () => {
  const ran: string[] = [];
  const [first, second] = [newer(1, ran), newer(2, ran)];
  const writer = await engine(second, "j");
  const before = await storage.load("j");
  const stranger = await running(first);
  clock.advance(MINUTE);
  await settled();
  await expect(stranger.send(first, "j", { type: "DONE", by: "x" })).rejects.toThrow(
    "which is not registered",
  );
  expect(await storage.load("j")).toEqual(before);
  expect(ran).toEqual([]);
  writer.run();
  await settled();
  expect(ran).toEqual(["j by 2"]);
  expect(await storage.load("j")).toMatchObject({ status: "done", workflow: "job@2" });
});

test("an instance whose chart was edited without a new version is left untouched, and its effects do not run", async () => {
  const ran: string[] = [];
  const original = newer(1, ran);
  const writer = await engine(original, "j");
  const before = await storage.load("j");
  const editedChart = setup({
    types: { context: {} as { id: string }, input: {} as { id: string }, events: {} as { type: "DONE" } },
    actions: { work: () => {} },
  }).createMachine({
    id: "job",
    context: ({ input }) => input,
    initial: "working",
    states: { working: { entry: "work", on: { DONE: "finished" } }, finished: { type: "final" } },
  });
  let wrong = 0;
  const edited = workflow(editedChart)({
    version: 1,
    effects: {
      work: async () => {
        wrong += 1;
        return { event: { type: "DONE" } };
      },
    },
  });
  const stranger = await running(edited);
  for (let second = 0; second < 3; second++) {
    await settled();
    clock.advance(1_000);
  }
  await expect(stranger.send(edited, "j", { type: "DONE" })).rejects.toThrow(
    "has changed under an unchanged version",
  );
  await stranger.stop();
  expect(wrong).toBe(0);
  expect(await storage.load("j")).toEqual(before);
  clock.advance(MINUTE);
  writer.run();
  await settled();
  expect(ran).toEqual(["j by 1"]);
});
