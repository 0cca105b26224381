/** Who holds a task: dead holders are succeeded, late ones are not heard, and poison is set aside. */
import { expect } from "vitest";
import type { Clock } from "paystate/engine";
import type { EngineStorage } from "paystate/storage";
import { gate, turns, until } from "../kit/engine-world.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { job, type Work } from "./job.ts";
import { Wire } from "./wire.ts";
import { taskIdAt } from "../kit/task-ids.ts";
import { engineTest } from "../kit/engine-test.ts";

const LEASE = 15_000;
const STEP = LEASE / 60;
const isDone = { value: "done" };

const { test, world, engine, running, clock, log, storage, open, settled } = engineTest("leases");

/** Lets time pass in steps that each have their turns, and wait for what is asked meanwhile. */
async function pass(ms: number, asked = (): number => 0): Promise<void> {
  for (let at = 0; at < ms; at += STEP) {
    clock.advance(STEP);
    for (let quiet = 0; quiet < 10; quiet = asked() === 0 ? quiet + 1 : 0) await turns(1);
  }
}

/** Fails as the signal aborts, and says so first. */
const untilAborted = (signal: AbortSignal, tell: () => void): Promise<never> =>
  new Promise((_resolve, reject) =>
    signal.addEventListener("abort", () => {
      tell();
      reject(new Error("aborted"));
    }),
  );

const endings = async (): Promise<readonly string[]> =>
  (await storage.history("j", { after: 1, limit: 10 })).map(({ event }) => event);

test("E11: a dead process loses its task to another one, and its late result changes nothing", async () => {
  const hanging = gate<string>();
  let crashes = -1;
  const alive = job(async (_params, run) => {
    crashes = run.crashes;
    return "alive";
  });
  // The process is dead to everybody else: its clock stands still, so it sends no heartbeat.
  await running({ workflows: [job(() => hanging.opened)], clock: virtualClock(clock.now()) }, "j");
  const second = await running(alive);
  clock.advance(LEASE - 1);
  await second.settled();
  expect(crashes).toBe(-1);
  clock.advance(1);
  await second.settled();
  expect(crashes).toBe(1);
  const ended = await storage.load("j");
  hanging.open("dead");
  await settled();
  expect(await storage.load("j")).toEqual(ended);
  expect(await endings()).toEqual(['{"type":"DONE","by":"alive"}']);
  const task = await taskIdAt(storage, "j");
  expect(log.commits.filter(({ commit }) => commit.consumes?.task === task)).toHaveLength(1);
});

test("R34, D48: after a heartbeat that failed, or that a locked row was not seen by, the next one comes sooner", async () => {
  const hanging = gate<string>();
  const [from, beats] = [clock.now(), [] as number[]];
  let asked = 0;
  const shaky = await open((real) => ({
    async heartbeat(request) {
      const nth = beats.push(clock.now() - from);
      if (nth === 1) throw new Error("no connection");
      if (nth === 2) return { lost: [], unseen: request.tasks.map(({ id }) => id) };
      asked += 1;
      return real.heartbeat(request).finally(() => (asked -= 1));
    },
  }));
  await running({ workflows: [job(() => hanging.opened)], storage: shaky }, "j");
  await pass(LEASE, () => asked);
  const [usual, soon] = [LEASE / 3, LEASE / 10];
  expect(beats).toEqual([usual, usual + soon, usual + 2 * soon, 2 * usual + 2 * soon]);
  hanging.open("me");
  await settled();
});

/** A process whose way to the storage can be cut; its handler of the nth run. */
async function cutOff(run: (nth: number, signal: AbortSignal) => Promise<unknown>) {
  const [wire, state] = [new Wire(world, STEP), { runs: 0, crashes: [] as number[] }];
  const jobs = job(async (_params, { signal, crashes }) => {
    state.crashes.push(crashes);
    await run((state.runs += 1), signal);
    return "me";
  });
  const holder = await running({ workflows: [jobs], storage: await wire.storage() }, "j");
  await until(() => state.runs === 1);
  return { state, holder, wire };
}

test("what ends or fails in an outage is given back after it, however long it was, and no crash is counted", async () => {
  const gates = [gate(), gate(), gate(), gate()];
  const cut = await cutOff(async (nth) => {
    await gates[nth - 1]?.opened;
    if (nth === 2) throw new Error("declined");
  });
  for (const [nth, each] of gates.slice(0, 3).entries()) {
    cut.wire.isCut = true;
    await cut.wire.pass(1_000);
    each.open();
    await cut.wire.pass(2 * LEASE);
    cut.wire.isCut = false;
    await cut.wire.pass(2 * LEASE);
    expect(cut.state.runs).toBe(nth + 2);
  }
  gates[3]?.open();
  await settled();
  expect(cut.state.crashes).toEqual([0, 0, 0, 0]);
});

test("D73: a stranger's lock that outlasts the lease and is rolled back: the run ends by its own clock before another begins, and no crash is counted", async () => {
  let [isLocked, atWork] = [true, 0];
  const crashes: number[] = [];
  const slow = job(async (_params, run) => {
    expect(atWork).toBe(0);
    if (crashes.push(run.crashes) > 1) return "again";
    atWork += 1;
    return untilAborted(run.signal, () => (atWork -= 1));
  });
  // What is locked is passed over by heartbeats, and by the claims of others.
  const locked = await open((real) => ({
    heartbeat: async (request) =>
      isLocked ? { lost: [], unseen: request.tasks.map(({ id }) => id) } : real.heartbeat(request),
    claim: async (request) => (isLocked && crashes.length > 0 ? [] : real.claim(request)),
  }));
  const one = await running({ workflows: [slow], storage: locked }, "j");
  await until(() => crashes.length === 1);
  await running({ workflows: [slow], storage: locked });
  await pass(LEASE);
  expect(atWork).toBe(0);
  await pass(LEASE);
  expect(crashes).toEqual([0]);
  isLocked = false;
  clock.advance(LEASE);
  await settled();
  expect(crashes).toEqual([0, 0]);
  expect(await one.read("j")).toMatchObject(isDone);
});

/** Work whose nth run waits for the nth gate, and fails if that is closed with an error; which runs were aborted. */
function gated(...gates: readonly ReturnType<typeof gate<string | Error>>[]) {
  const aborted: boolean[] = [];
  const work: Work = async (_params, { signal }) => {
    const nth = aborted.push(false) - 1;
    signal.addEventListener("abort", () => (aborted[nth] = true));
    const answer = (await gates[nth]?.opened) ?? "nobody";
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { aborted, jobs: job(work) };
}

test("a process that slept through its lease takes its own task again, once, and aborts the first run", async () => {
  const [first, second] = [gate<string | Error>(), gate<string | Error>()];
  const { aborted, jobs } = gated(first, second);
  // Its hands move only when it looks: nothing is extended while it sleeps.
  const sleepless: Clock = {
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms === LEASE / 3 ? 10 * LEASE : ms, signal),
  };
  const sleeper = await running({ workflows: [jobs], clock: sleepless }, "j");
  clock.advance(LEASE);
  // A claim that was on its way found nothing, and is made again a moment later.
  await until(() => {
    clock.advance(1);
    return aborted.length === 2;
  });
  expect(aborted).toEqual([true, false]);
  first.open("run 0");
  await turns(20);
  expect(await storage.load("j")).toMatchObject({ version: 1 });
  // The second run is in hand still: whoever stops waits for it.
  const stopped = sleeper.stop();
  second.open("run 1");
  await stopped;
  await settled();
  expect(await endings()).toEqual(['{"type":"DONE","by":"run 1"}']);
});

test.each(["claim", "load"] as const)(
  "D89, D93: frozen for a lease while its %s is answered, and its upkeep on its way, a process begins nothing that another has in hand by then",
  async (call) => {
    const frozen = virtualClock(clock.now());
    const [answered, thawed, hanging] = [gate(), gate(), gate()];
    const ran: string[] = [];
    const by = (name: string) =>
      job(async () => {
        ran.push(name);
        await hanging.opened;
        return name;
      });
    const freeze = async (at: typeof call): Promise<void> => {
      if (at !== call) return;
      answered.open();
      await thawed.opened;
    };
    let [isClaimed, isLeaseAnswered] = [false, false];
    const freezing = await open((real): Partial<EngineStorage> => ({
      async claim(request) {
        const tasks = await real.claim(request);
        if (tasks.length > 0) await freeze("claim");
        isClaimed ||= tasks.length > 0;
        return tasks;
      },
      // On its way while the process is frozen.
      lease: (request) =>
        thawed.opened.then(() => real.lease(request)).finally(() => (isLeaseAnswered = true)),
      // Asked for behind the claim, before the handler is called.
      async load(id) {
        const found = await real.load(id);
        if (isClaimed) await freeze("load");
        return found;
      },
    }));
    const jobs = by("frozen");
    await (await engine(jobs)).start(jobs, { id: "j", input: { id: "j" } });
    await running({ workflows: [jobs], storage: freezing, clock: frozen });
    await answered.opened;
    clock.advance(LEASE);
    const second = await running(by("other"));
    await until(() => ran.length > 0);
    thawed.open();
    frozen.set(clock.now());
    await until(() => isLeaseAnswered);
    // The other's claim is asked for again once it is told, or after its rest.
    clock.advance(1_000);
    frozen.set(clock.now());
    await turns(20);
    expect([...ran]).toEqual(["other"]);
    hanging.open();
    await settled();
    expect(await second.read("j")).toMatchObject(isDone);
    expect(ran).toEqual(["other"]);
  },
);
