/** Steps follow a stamp: neither an earlier life of an id nor a history that the database lost comes back. */
import { assign, fromPromise, setup } from "xstate";
import { expect } from "vitest";
import { createEngine, workflow, type AnyWorkflow, type Engine, type WatchEvent } from "paystate/engine";
import type { PaymentTables } from "../../src/payments/payment-storage.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { engineTest, testIn } from "../kit/engine-test.ts";
import { everyAdapter } from "../kit/adapters.ts";
import { gate, turns, until } from "../kit/engine-world.ts";
import { forgetfulDatabase, type ForgetfulDatabase } from "../kit/forgetful-database.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";
import { job } from "./job.ts";

const noting = (...watches: readonly string[]) =>
  setup({
    types: {
      context: {} as { readonly notes: readonly string[] },
      events: {} as { readonly type: "NOTE"; readonly note: string },
    },
  }).createMachine({
    id: "notes",
    context: { notes: [] },
    initial: "open",
    states: {
      open: {
        meta: { watches },
        on: { NOTE: { actions: assign({ notes: ({ context, event }) => [...context.notes, event.note] }) } },
      },
    },
  });

const notes = workflow(noting())({ version: 1 });
const watching = workflow(noting("sky"))({ version: 1, watches: { sky: () => "sky" } });

const note = (text: string) => ({ type: "NOTE", note: text }) as const;

/** Engines that share a database which loses what was written last. */
interface LosingWorld extends ForgetfulDatabase {
  readonly clock: VirtualClock;
  engine(...workflows: readonly AnyWorkflow[]): Engine<unknown>;
}

async function inLosingWorld(
  adapter: (typeof everyAdapter)[number],
  act: (world: LosingWorld) => Promise<void>,
): Promise<void> {
  const database = await forgetfulDatabase(adapter);
  const clock = virtualClock();
  const engines: Engine<unknown>[] = [];
  const { storage } = database;
  try {
    await act({
      ...database,
      clock,
      engine(...workflows) {
        const engine = createEngine<unknown>({ storage, clock, logger: silentLogger, workflows });
        engines.push(engine);
        return engine;
      },
    });
  } finally {
    await Promise.all(engines.map((engine) => engine.stop({ timeoutMs: 0 })));
    await database.close();
  }
}

/** Ends an instance, removes it, and starts another one under its id. */
async function beginAnew(engine: Engine<PaymentTables>, unit: typeof notes, id: string): Promise<void> {
  expect(await engine.stopInstance(id)).toBe("stopped");
  expect(await engine.removeInstance(id)).toBe("removed");
  expect(await engine.start(unit, { id, input: undefined })).toEqual({ ok: true });
}

const { test, engine, running, clock, log, storage, open, tasksOf, awaitsOutside } = engineTest(
  "stamps",
  everyAdapter,
);
const losing = testIn({ about: "stamps", kinds: everyAdapter }, inLosingWorld);

test("D13: a removed id that is used again does not get its old life back from another process's memory", async () => {
  const [one, two] = [await engine(notes), await engine(notes)];
  await one.start(notes, { id: "n", input: undefined });
  await one.send(notes, "n", note("old"));
  await beginAnew(two, notes, "n");
  await two.send(notes, "n", note("new"));
  expect(await one.send(notes, "n", note("late"))).toMatchObject({ kind: "stepped" });
  expect(await two.read("n")).toMatchObject({ steps: 3, context: { notes: ["new", "late"] } });
  expect((await two.history("n"))[0]?.stamp).toBe((await two.read("n"))?.life);
  awaitsOutside("n");
});

test("D13: a late end of an old life does not end the task of the new one", async () => {
  const [old, fresh] = [gate(), gate()];
  const frozen = virtualClock(clock.now());
  const jobOf = (by: string, hanging: Promise<unknown> | null) =>
    job(async () => {
      await hanging;
      return by;
    });
  const late = jobOf("old", old.opened);
  const one = await running({ workflows: [late], clock: frozen, storage: await open() }, "j");
  clock.advance(60_000);
  const two = await running(jobOf("two", null));
  await two.settled();
  expect(await two.read("j")).toMatchObject({ status: "done" });
  await two.stop();
  expect(await two.removeInstance("j")).toBe("removed");
  const held = jobOf("new", fresh.opened);
  const three = await running(held, "j");
  await until(async () => (await tasksOf("j")).some(({ isHeld }) => isHeld));
  const before = await tasksOf("j");
  old.open();
  await one.settled();
  expect(await three.read("j")).toMatchObject({ value: "working", steps: 1 });
  expect(await tasksOf("j")).toEqual(before);
  fresh.open();
  await three.settled();
  expect((await three.history("j")).at(-1)?.event).toMatchObject({ type: "DONE", by: "new" });
  awaitsOutside("j");
});

test("D13: what was found out for an old life is not told to the new one", async () => {
  const asked = gate();
  const answered = gate<readonly WatchEvent[]>();
  let looks = 0;
  const poll = async (): Promise<readonly WatchEvent[]> => {
    looks += 1;
    if (looks > 1) return [];
    asked.open();
    return answered.opened;
  };
  const settings = { workflows: [watching], watchers: { sky: { intervalMs: 1_000, poll } } };
  const [one, two] = [await engine(settings), await engine(settings)];
  one.run();
  await two.start(watching, { id: "n", input: undefined });
  const settling = one.settled();
  await asked.opened;
  await beginAnew(two, watching, "n");
  answered.open([{ instance: "n", event: note("of the old one") }]);
  await settling;
  expect(await two.read("n")).toMatchObject({ steps: 1, context: { notes: [] } });
  awaitsOutside("n");
});

test("D13: a parent that has ended is not removed while a child of it is active", async () => {
  const one = await engine(parents, "p");
  expect(await one.stopInstance("p")).toBe("stopped");
  expect(await one.read("p/child")).toMatchObject({ status: "active" });
  expect(await one.removeInstance("p")).toBe("pending");
  one.run();
  await one.settled();
  expect(await one.read("p/child")).toMatchObject({ status: "stopped" });
  expect(await one.removeInstance("p")).toBe("removed");
});

test("D13: late messages between a parent and its child reach neither of those that have their ids now", async () => {
  const one = await engine(parents, "p");
  expect(await one.stopInstance("p")).toBe("stopped");
  await one.send(parents.child("child"), "p/child", { type: "LEAVE" });
  const messages = log.commits.flatMap(({ commit: { arms = [] } }) => arms.map(({ task }) => task));
  expect(messages.map(({ name }) => name)).toEqual(["xstate.stop", "xstate.done.actor.child"]);
  one.run();
  await one.settled();
  expect(await one.removeInstance("p/child")).toBe("removed");
  expect(await one.removeInstance("p")).toBe("removed");
  expect(await one.start(parents, { id: "p", input: undefined })).toEqual({ ok: true });
  await storage.commit([{ arms: messages.map((task) => ({ task: { ...task, id: `late ${task.id}` } })) }]);
  await one.settled();
  expect(await one.read("p")).toMatchObject({ status: "active", steps: 1 });
  expect(await one.read("p/child")).toMatchObject({ status: "active", steps: 1 });
  for (const instance of ["p", "p/child"]) {
    expect(await tasksOf(instance)).toEqual([]);
  }
  awaitsOutside("p", "p/child");
});

losing.test(
  "D28: a process that remembers a step which the database lost does not write over another's step of the same number",
  async () => {
    const { engine, moment, loseSince } = losing.present();
    const [one, two] = [engine(notes), engine(notes)];
    await one.start(notes, { id: "n", input: undefined });
    await one.send(notes, "n", note("kept"));
    const before = moment();
    await one.send(notes, "n", note("lost"));
    expect((await one.read("n"))?.steps).toBe(3);
    await loseSince(before);
    expect(await two.send(notes, "n", note("acknowledged"))).toMatchObject({ kind: "stepped" });
    expect((await two.read("n"))?.steps).toBe(3);
    expect(await one.send(notes, "n", note("after"))).toMatchObject({ kind: "stepped" });
    expect(await two.read("n")).toMatchObject({
      steps: 4,
      context: { notes: ["kept", "acknowledged", "after"] },
    });
    const told = (await two.history("n")).map(({ event }) => (event as { readonly note?: string }).note);
    expect(told).toEqual([undefined, "kept", "acknowledged", "after"]);
  },
);

losing.test(
  "D29: an effect in hand of a step that the database lost has another key, ends nothing, and its give-back releases nothing",
  async () => {
    const { engine, storage, moment, loseSince } = losing.present();
    const keys: string[] = [];
    const gates = { bob: gate(), ada: gate() };
    const paying = (hangs: boolean) => payments(keys, hangs ? gates : null);
    const [one, two] = [engine(paying(true)), engine(paying(true))];
    one.run();
    await one.start(paying(true), { id: "p", input: undefined });
    const before = moment();
    await one.send(paying(true), "p", { type: "PAY", to: "bob" });
    await until(() => keys.length === 1);
    await loseSince(before);
    two.run();
    await two.send(paying(true), "p", { type: "PAY", to: "ada" });
    await until(() => keys.length === 2);
    expect(new Set(keys).size).toBe(2);
    const pending = await storage.tasks({ order: "instance", instance: "p", limit: 9 });
    expect(pending).toMatchObject([{ isHeld: true }]);
    gates.bob.open();
    await turns(20);
    expect(await two.read("p")).toMatchObject({ value: "paying", context: { paid: null } });
    await one.stop({ timeoutMs: 0 });
    expect(await storage.tasks({ order: "instance", instance: "p", limit: 9 })).toEqual(pending);
    gates.ada.open();
    await two.settled();
    expect(await two.read("p")).toMatchObject({ value: "paid", context: { paid: "ada" } });
    expect(keys).toHaveLength(2);
  },
);
const childChart = setup({ types: { events: {} as { readonly type: "LEAVE" } } }).createMachine({
  id: "child",
  initial: "here",
  states: { here: { on: { LEAVE: "gone" } }, gone: { type: "final" } },
});

const parents = workflow(
  setup({ actors: { child: childChart } }).createMachine({
    id: "parents",
    initial: "waiting",
    states: { waiting: { invoke: { src: "child", id: "child", onDone: "over" } }, over: { type: "final" } },
  }),
)({ version: 1 });

/** Pays whom the event names, by a promise that waits for its gate. */
function payments(
  keys: string[],
  gates: Readonly<Record<string, { readonly opened: Promise<void> }>> | null,
) {
  const chart = setup({
    types: {
      context: {} as { readonly paid: string | null; readonly to: string },
      events: {} as { readonly type: "PAY"; readonly to: string },
    },
    actors: { pay: fromPromise<string, { readonly to: string }>(async () => "nobody") },
  }).createMachine({
    id: "payments",
    context: { paid: null, to: "" },
    initial: "waiting",
    states: {
      waiting: { on: { PAY: { target: "paying", actions: assign({ to: ({ event }) => event.to }) } } },
      paying: {
        invoke: {
          src: "pay",
          input: ({ context }) => ({ to: context.to }),
          onDone: { target: "paid", actions: assign({ paid: ({ event }) => event.output }) },
        },
      },
      paid: { type: "final" },
    },
  });
  const provided = chart.provide({
    actors: {
      pay: fromPromise<string, { readonly to: string }>(async ({ input, self }) => {
        keys.push(self.sessionId);
        await gates?.[input.to]?.opened;
        return input.to;
      }),
    },
  });
  return workflow(provided)({ version: 1 });
}
