/** Failures put right: dead letters tried again or dropped, instances stopped and removed. */
import { expect } from "vitest";
import { createMachine, fromPromise, setup } from "xstate";
import { workflow, type Logger } from "paystate/engine";
import { silentLogger } from "../../src/core/runtime.ts";
import { gate, until } from "../kit/engine-world.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { job } from "./job.ts";
import { taskIdAt } from "../kit/task-ids.ts";
import { engineTest } from "../kit/engine-test.ts";

const LEASE = 15_000;

const chart = setup({
  types: { events: {} as { type: "DONE" } },
  actors: {
    hang: fromPromise<void>(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
    ),
    child: setup({}).createMachine({
      id: "child",
      initial: "here",
      states: { here: { after: { 1_000: "there" } }, there: {} },
    }),
  },
}).createMachine({
  id: "hanging",
  initial: "busy",
  states: {
    busy: {
      invoke: [
        { id: "hang", src: "hang" },
        { id: "child", src: "child" },
      ],
      after: { 60_000: "late" },
      on: { DONE: "late" },
    },
    late: { type: "final" },
  },
});

const hangings = workflow(chart)({ version: 1 });

/** A logger that keeps the fields of its warnings. */
function recordedWarnings() {
  const warnings: Record<string, unknown>[] = [];
  const logger: Logger = { ...silentLogger, warn: (fields) => void warnings.push({ ...fields }) };
  return { logger, warnings };
}

const { test, engine, running, clock, open, settled, pass, awaitsOutside } = engineTest("putting right");

test("a dead letter is listed, not tried by itself, and done at once after retry", async () => {
  const hanging = gate();
  let isPoison = true;
  let begun = 0;
  const poison = job(async () => {
    begun += 1;
    if (isPoison) await hanging.opened;
    return "healed";
  });
  for (const life of [1, 2]) {
    // Its clock stands still, so it sends no heartbeat and its lease runs out.
    const frozen = virtualClock(clock.now());
    const dying = await running({ workflows: [poison], storage: await open(), clock: frozen, maxCrashes: 1 });
    if (life === 1) await dying.start(poison, { id: "j", input: { id: "j" } });
    await until(() => begun === life);
    clock.advance(LEASE);
  }
  const living = await running({ workflows: [poison], maxCrashes: 1 });
  await living.settled();
  const [letter] = await living.deadLetters();
  const task = await taskIdAt(living, "j");
  expect(letter).toMatchObject({ id: task, instance: "j", name: "work", crashes: 2, since: clock.now() });
  expect((await living.pending("j")).tasks).toMatchObject([{ id: task, deadAt: clock.now() }]);
  expect((await living.list({ failing: true })).instances).toMatchObject([{ id: "j" }]);
  clock.advance(10 * LEASE);
  await living.settled();
  expect(await living.read("j")).toMatchObject({ value: "working" });

  isPoison = false;
  expect(await living.retry(task)).toBe(true);
  await living.settled();
  expect(await living.read("j")).toMatchObject({ value: "done" });
  expect(await living.deadLetters()).toEqual([]);
  expect(await living.retry(task)).toBe(false);
  hanging.open();
  await settled();
  expect(await living.history("j")).toHaveLength(2);
});

test("D3: an effect that throws again and again, and a message to an absent instance: each is warned of once, and listed", async () => {
  const calling = setup({
    types: { context: {} as { readonly id: string }, input: {} as { readonly id: string } },
    actions: { tell: (_, _params: { machine: string; id: string; event: { type: "HELLO" } }) => {} },
  }).createMachine({
    id: "caller",
    context: ({ input }) => input,
    entry: { type: "tell", params: { machine: "caller", id: "absent", event: { type: "HELLO" } } },
  });
  const caller = workflow(calling)({ version: 1, effects: {} });
  const broken = job(async () => {
    throw new Error("no paper");
  });
  const { logger, warnings } = recordedWarnings();
  const one = await running({ workflows: [broken, caller], logger }, "j");
  await one.start(caller, { id: "c", input: { id: "c" } });
  await pass(10 * 60_000);
  const tasks = [await taskIdAt(one, "c"), await taskIdAt(one, "j")];
  expect(warnings.map(({ task }) => String(task)).toSorted()).toEqual(tasks);
  expect((await one.failingTasks()).map(({ id }) => id).toSorted()).toEqual(tasks);
  awaitsOutside("j", "c", "absent");
});

test("D3: an instance that waits for an event, and whose chart this process does not have, is warned of once and counted", async () => {
  const idle = workflow(createMachine({ id: "idle", initial: "waiting", states: { waiting: {} } }))({
    version: 1,
  });
  const { logger, warnings } = recordedWarnings();
  const stranger = await running({ workflows: [], logger });
  const owner = await engine(idle, "i");
  for (let minute = 0; minute < 10; minute++) {
    clock.advance(60_000);
    await settled();
  }
  await until(() => warnings.length > 0);
  expect(warnings).toMatchObject([{ workflow: "idle@1", instances: 1 }]);
  expect(await stranger.troubles()).toMatchObject({ unknownInstances: 1 });
  expect(await owner.troubles()).toMatchObject({ unknownInstances: 0 });
  await owner.stopInstance("i");
});

test("no secret stands in the error that is kept beside a failing task", async () => {
  const secret = "ps_live_0123456789abcdef_0123456789abcdef0123456789abcdef";
  const jobs = job(async () => {
    throw new Error(`401 from https://user:${secret}@pay.example/?key=1, sent Bearer ${secret}`);
  });
  const one = await engine(jobs, "j");
  one.run();
  await settled();
  const [task] = await one.failingTasks();
  expect(task?.lastError).toContain("401 from");
  expect(JSON.stringify([task, await one.pending("j"), await one.history("j")])).not.toContain("89abcdef");
  awaitsOutside("j");
});

test("a stopped instance has no timer, invocation or child left, and no event moves it", async () => {
  const one = await running(hangings, "h");
  expect(await one.stopInstance("h")).toBe("stopped");
  expect(await one.stopInstance("h")).toBe("ended");
  expect(await one.stopInstance("none")).toBe("absent");
  await pass(120_000);
  expect(await one.read("h")).toMatchObject({ value: "busy", status: "stopped" });
  expect(await one.read("h/child")).toMatchObject({ status: "stopped" });
  for (const id of ["h", "h/child"]) {
    expect(await one.pending(id)).toEqual({ timers: [], tasks: [], watches: [], children: [] });
  }
  expect(await one.send(hangings, "h", { type: "DONE" })).toMatchObject({ kind: "ended" });
  expect((await one.history("h")).map(({ event }) => event.type)).toEqual(["$started", "xstate.stop"]);
});

test("what has ended and still has an effect to do is not removed before it is done", async () => {
  const jobs = job(async () => undefined);
  const one = await engine(jobs, "j");
  expect(await one.stopInstance("j")).toBe("stopped");
  expect(await one.removeInstance("j")).toBe("pending");
  one.run();
  await one.settled();
  expect(await one.removeInstance("j")).toBe("removed");
});
