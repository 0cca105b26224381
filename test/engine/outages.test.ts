/** A storage that does not answer for longer than a lease, while every process lives. */
import { assign, setup } from "xstate";
import { expect } from "vitest";
import { workflow } from "paystate/engine";
import { StorageUnusable } from "../../storage/storage-unusable.ts";
import { gate, turns } from "../kit/engine-world.ts";
import { job } from "./job.ts";
import { Wire } from "./wire.ts";
import { engineTest } from "../kit/engine-test.ts";

const LEASE = 15_000;
const OUTAGE = 22_000;
const STEP = 500;

const names = Array.from({ length: 40 }, (_, index) => `j${String(index).padStart(2, "0")}`);

/** What is in hand, and what became of it. */
class Hands {
  readonly begun: string[] = [];
  readonly aborted: string[] = [];
  readonly finish = gate();

  readonly jobs = job(async ({ id }, { signal }) => {
    this.begun.push(id);
    signal.addEventListener("abort", () => this.aborted.push(id));
    await this.finish.opened;
    return id;
  });
}

/** How many of the tasks are held by a living process, and how many are suspects. */
async function standing(): Promise<{ held: number; suspects: number }> {
  const found = await Promise.all(names.map((id) => tasksOf(id)));
  const tasks = found.flat();
  return {
    held: tasks.filter(({ isHeld }) => isHeld).length,
    suspects: tasks.filter(({ isSuspect, crashes }) => isSuspect || crashes > 0).length,
  };
}

const { test, world, engine, running, clock, open, settled, tasksOf, awaitsOutside } = engineTest("outages");

test("D2: two living processes without a storage for longer than a lease: all forty are told to stop, and are done once where they do not", async () => {
  const { begun, aborted, finish, jobs } = new Hands();
  const wire = new Wire(world, STEP);
  const holder = await running({ workflows: [jobs], storage: await wire.storage() });
  for (const id of names) await holder.start(jobs, { id, input: { id } });
  await wire.idle();
  const other = await running({ workflows: [jobs], storage: await wire.storage() });
  // Many at different places of the beat, each longer than the lease.
  for (let round = 0; round < 7; round++) {
    await wire.pass(10_000 + round * STEP);
    wire.isCut = true;
    await wire.pass(OUTAGE);
    wire.isCut = false;
    await wire.pass(LEASE);
    expect(await standing()).toEqual({ held: 40, suspects: 0 });
  }
  expect(aborted).toEqual(names);
  finish.open();
  await world.settled();
  expect(begun).toEqual(names);
  for (const id of names) expect(await other.read(id)).toMatchObject({ value: "done" });
  expect(await world.storage.tasks({ order: "dead", limit: 9 })).toEqual([]);
});

test("D49: of four sends to one instance none waits for longer than the first while the storage is away", async () => {
  const types = { context: {} as { sum: number }, events: {} as { type: "ADD" } };
  const chart = setup({ types }).createMachine({
    id: "sum",
    context: { sum: 0 },
    on: { ADD: { actions: assign({ sum: ({ context }) => context.sum + 1 }) } },
  });
  const sums = workflow(chart)({ version: 1 });
  let isAway = false;
  const error = new StorageUnusable("unavailable", "the server is away");
  const away = await open((real) => ({
    async commit(items: Parameters<typeof real.commit>[0]) {
      if (!isAway) return real.commit(items);
      await clock.sleep(10_000);
      return items.map(() => ({ ok: false as const, conflict: "failed" as const, error }));
    },
  }));
  const one = await engine({ workflows: [sums], storage: away }, "s");
  awaitsOutside("s");
  isAway = true;
  const ended: unknown[] = [];
  for (let index = 0; index < 4; index++) {
    one.send(sums, "s", { type: "ADD" }).then(
      (sent) => ended.push(sent.kind),
      (reason: unknown) => ended.push(reason),
    );
  }
  await turns(20);
  expect(ended).toEqual([]);
  clock.advance(10_000);
  await turns(20);
  expect(ended).toEqual([error, error, error, error]);
  isAway = false;
  expect(await one.send(sums, "s", { type: "ADD" })).toMatchObject({ snapshot: { context: { sum: 1 } } });
});

test("D37: an effect that meets a database of its own which cannot be used has not failed, and is told on the log", async () => {
  let isUsable = false;
  const jobs = job(async ({ id }) => {
    if (!isUsable) throw new StorageUnusable("access_denied", "mend the password");
    return id;
  });
  const logged: unknown[] = [];
  const warn = (fields: object, message: string): void => void logged.push({ ...fields, message });
  const nothing = (): void => {};
  const logger = { debug: nothing, info: nothing, warn, error: nothing };
  const { run, read, failingTasks } = await engine({ workflows: [jobs], logger }, "j");
  run();
  await settled();
  expect(logged).toMatchObject([
    { instance: "j", name: "work", err: { code: "access_denied" }, message: "a task waits for a database" },
  ]);
  expect(await failingTasks()).toEqual([]);
  isUsable = true;
  clock.advance(1_200);
  await settled();
  expect(await read("j")).toMatchObject({ status: "done" });
});

test("after an outage that ended no lease, what is due is claimed at once", async () => {
  const { begun, finish, jobs } = new Hands();
  const wire = new Wire(world, STEP);
  const process = await running({ workflows: [jobs], storage: await wire.storage() });
  await wire.pass(3_000);
  wire.isCut = true;
  await wire.pass(5_000);
  await world.engine(jobs, "j00");
  expect(begun).toEqual([]);
  wire.isCut = false;
  await wire.pass(2_000);
  expect(begun).toEqual(["j00"]);
  finish.open();
  await process.settled();
  expect(await process.read("j00")).toMatchObject({ value: "done" });
});
