/** What a process had in hand when it ended: tried one at a time, until it is known which task ends its processes. */
import { expect } from "vitest";
import { gate, turns, until, type EngineWorld } from "../kit/engine-world.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { job, type Job } from "./job.ts";
import { taskIdAt } from "../kit/task-ids.ts";
import { engineTest } from "../kit/engine-test.ts";

const LEASE = 15_000;

const names = Array.from({ length: 40 }, (_, index) => `j${String(index).padStart(2, "0")}`);

/** A process that ends without a word: its clock stands still, so it claims nothing and keeps no lease. */
async function mortal({ running, open, clock }: EngineWorld, jobs: Job): ReturnType<EngineWorld["engine"]> {
  const process = await running({
    workflows: [jobs],
    storage: await open(),
    clock: virtualClock(clock.now()),
  });
  return process;
}

const { test, world, engine, running, clock, storage } = engineTest("suspects");

test("D2: forty healthy effects in hand and six processes that end: all forty are done", async () => {
  const never = gate<undefined>();
  const begun: string[] = [];
  const hanging = job(({ id }) => {
    begun.push(id);
    return never.opened;
  });
  for (const expected of [40, 80, 81, 82, 83, 84]) {
    const process = await mortal(world, hanging);
    for (const id of expected === 40 ? names : []) await process.start(hanging, { id, input: { id } });
    await until(() => begun.length >= expected);
    clock.advance(LEASE);
  }
  expect(begun).toEqual([...names, ...names, ...names.slice(0, 4)]);
  const most = { atOnce: 0, now: 0 };
  const healthy = job(async ({ id }) => {
    most.now += 1;
    most.atOnce = Math.max(most.atOnce, most.now);
    await turns(2);
    most.now -= 1;
    return id;
  });
  const survivor = await running(healthy);
  await survivor.settled();
  for (const id of names) expect(await survivor.read(id)).toMatchObject({ value: "done" });
  expect(most.atOnce).toBe(1);
  expect(await storage.tasks({ order: "dead", limit: 9 })).toEqual([]);
  never.open(undefined);
});

test("D2: a task that ends its process is found, set aside alone, listed, and retried by command", async () => {
  const never = gate<undefined>();
  let deaths = 0;
  // Each process has a job of its own: what one that is dead had begun stays undone.
  const deadlyJob = (): { readonly deadly: Job; readonly isDead: () => boolean } => {
    let isDead = false;
    const deadly = job(async ({ id }) => {
      if (id === "j07") {
        deaths += 1;
        isDead = true;
      }
      await turns(3);
      return isDead ? never.opened : id;
    });
    return { deadly, isDead: () => isDead };
  };
  for (let life = 0; life < 7; life++) {
    const { deadly, isDead } = deadlyJob();
    const process = await mortal(world, deadly);
    for (const id of life === 0 ? names : life < 3 ? [`new${life}`] : []) {
      await process.start(deadly, { id, input: { id } });
    }
    await until(isDead);
    await turns(20);
    clock.advance(LEASE);
  }
  expect(deaths).toBe(7);
  const survivor = await running(deadlyJob().deadly);
  await survivor.settled();
  const task = await taskIdAt(survivor, "j07");
  expect(await survivor.deadLetters()).toMatchObject([{ id: task, crashes: 7 }]);
  const healthy = [...names.filter((id) => id !== "j07"), "new1", "new2"];
  for (const id of healthy) expect(await survivor.read(id)).toMatchObject({ value: "done" });
  const mended = await engine(job(async ({ id }) => id));
  await survivor.stop();
  expect(await mended.retry(task)).toBe(true);
  mended.run();
  await mended.settled();
  expect(await mended.read("j07")).toMatchObject({ value: "done" });
  expect(await mended.deadLetters()).toEqual([]);
  never.open(undefined);
});

test("D2: new work and timers go on beside a suspect that takes long, and it can be seen what waits", async () => {
  const never = gate<undefined>();
  let begun = 0;
  const hanging = job(() => {
    begun += 1;
    return never.opened;
  });
  for (const expected of [2, 4]) {
    const victim = await mortal(world, hanging);
    const started = expected === 2 ? ["a", "b"] : [];
    for (const id of started) await victim.start(hanging, { id, input: { id } });
    await until(() => begun >= expected);
    clock.advance(LEASE);
  }
  const slow = gate();
  const jobs = job(async ({ id }, { crashes }) => {
    if (crashes > 0) await slow.opened;
    return id;
  });
  const survivor = await running(jobs);
  for (const id of ["c", "d"]) await survivor.start(jobs, { id, input: { id } });
  for (const id of ["c", "d"]) await until(async () => (await survivor.read(id))?.value === "done");
  await until(async () => (await survivor.pending("a")).tasks[0]?.isSuspect === true);
  const seen = await Promise.all(["a", "b"].map((id) => survivor.pending(id)));
  expect(seen.map(({ tasks }) => tasks)).toMatchObject([
    [{ isSuspect: true, isHeld: true, crashes: 2 }],
    [{ isSuspect: true, isHeld: false, crashes: 2 }],
  ]);
  slow.open();
  await survivor.settled();
  for (const id of ["a", "b"]) expect(await survivor.read(id)).toMatchObject({ value: "done" });
  never.open(undefined);
});

test("D2: an effect that a lost lease broke off has not failed", async () => {
  const never = gate<undefined>();
  const broken: string[] = [];
  const slow = job(async ({ id }, { signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    broken.push(id);
    throw new Error("broken off");
  });
  const frozen = virtualClock(clock.now());
  const sleeper = await running({ workflows: [slow], storage: await world.open(), clock: frozen });
  for (const id of ["a", "b"]) await sleeper.start(slow, { id, input: { id } });
  clock.advance(LEASE);
  const hanging = job(() => never.opened);
  const other = await running(hanging);
  await until(() => world.log.claims.length > 0);
  await turns(20);
  // It wakes, and learns that both are in other hands.
  frozen.set(clock.now());
  await until(() => broken.length > 1);
  await turns(20);
  expect(broken).toEqual(["a", "b"]);
  for (const id of ["a", "b"]) {
    const { tasks } = await other.pending(id);
    expect(tasks).toMatchObject([{ failures: 0, crashes: 1, isSuspect: false, isHeld: true }]);
  }
  await sleeper.stop({ timeoutMs: 0 });
  never.open(undefined);
  await other.stop({ timeoutMs: 0 });
  world.awaitsOutside("a", "b");
});
