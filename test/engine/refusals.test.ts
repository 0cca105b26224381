/** What a caller, an effect or a chart may not ask for is refused before anything is stored, in words that name it. */
import { expect, it } from "vitest";
import { assign, createMachine, setup } from "xstate";
import { createEngine, startOf, UnknownWorkflow, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { job, jobChart } from "./job.ts";
import { engineTest } from "../kit/engine-test.ts";

const light = createMachine({
  id: "light",
  initial: "off",
  states: { off: { on: { SWITCH: "on" } }, on: {} },
});
const door = createMachine({
  id: "door",
  initial: "shut",
  states: { shut: { on: { SWITCH: "open" } }, open: {} },
});
const lights = workflow(light)({ version: 1 });
const doors = workflow(door)({ version: 1 });

const boss = workflow(
  setup({ actors: { worker: createMachine({ initial: "busy", states: { busy: {} } }) } }).createMachine({
    id: "boss",
    initial: "waiting",
    states: {
      waiting: { invoke: { src: "worker", id: "kid", onDone: "proud", onError: "sad" } },
      proud: {},
      sad: {},
    },
  }),
)({ version: 1 });

const { test, engine, running, storage, settled, pass, awaitsOutside } = engineTest("refusals");

test("D21: start, send and commit refuse a workflow that this engine does not have", async () => {
  const one = await engine(lights);
  const unknown = { name: "UnknownWorkflow", instance: "d", workflow: "door@1" };
  const sentence = "instance d is one of door@1, which is not registered";
  await expect(one.start(doors, { id: "d", input: undefined })).rejects.toMatchObject(unknown);
  await expect(one.start(doors, { id: "d", input: undefined })).rejects.toThrow(sentence);
  await expect(one.commit({ starts: [startOf(doors, "d", undefined)] })).rejects.toMatchObject(unknown);
  await expect(one.send(doors, "d", { type: "SWITCH" })).rejects.toMatchObject(unknown);
  const other = workflow(createMachine({ id: "light", initial: "off", states: { off: {} } }))({ version: 1 });
  await expect(one.start(other, { id: "d", input: undefined })).rejects.toThrow(
    "instance d is one of another chart of light@1",
  );
  expect(await storage.load("d")).toBeNull();
});

test.each([
  ["undefined", undefined],
  ["null", null],
  ["an empty object", {}],
  ["the machine itself", light],
])(
  "D21: %s in place of a workflow is refused by every call, which says what is right",
  async (_name, given) => {
    const one = await engine(lights, "hall");
    const before = await storage.load("hall");
    const handle = given as typeof lights;
    const right = new TypeError("workflow: expected what workflow() returns");
    const start = { id: "new", input: undefined };
    await expect(one.start(handle, start)).rejects.toThrow(right);
    await expect(one.commit({ starts: [{ workflow: handle, ...start }] })).rejects.toThrow(right);
    await expect(one.startOrSend(handle, start, { type: "SWITCH" })).rejects.toThrow(right); // modules: ask
    await expect(one.send(handle, "hall", { type: "SWITCH" })).rejects.toThrow(right);
    await expect(one.ask(handle, "hall", { type: "SWITCH" })).rejects.toThrow(right); // modules: ask
    await expect(one.waitFor(handle, "hall", "final")).rejects.toThrow(right);
    await expect(one.read(handle, "hall")).rejects.toThrow(right);
    await expect(one.each(handle).send({ type: "SWITCH" })).rejects.toThrow(right); // modules: jobs
    expect(await storage.load("hall")).toEqual(before);
    expect(await storage.load("new")).toBeNull();
    awaitsOutside("hall");
  },
);

test.each([
  ["undefined", undefined],
  ["a number", 7],
  ["an object", { id: "hall" }],
  ["empty", ""],
  ["text with NUL", "a\0b"],
  ["cut in the middle of a character", "ann 👍".slice(0, 5)],
])("D21: an id that is %s is refused by every call in the same words", async (_name, given) => {
  const one = await engine(lights);
  const id = given as string;
  const right = "id cannot be stored: expected text that is not empty, without NUL and halves of characters";
  await expect(one.start(lights, { id, input: undefined })).rejects.toThrow(right);
  await expect(one.send(lights, id, { type: "SWITCH" })).rejects.toThrow(right);
  await expect(one.ask(lights, id, { type: "SWITCH" })).rejects.toThrow(right); // modules: ask
  await expect(one.read(lights, id)).rejects.toThrow(right);
  await expect(one.waitFor(lights, id, "final")).rejects.toThrow(right);
  await expect(one.history(id)).rejects.toThrow(right);
  await expect(one.pending(id)).rejects.toThrow(right);
  await expect(one.stopInstance(id)).rejects.toThrow(right);
  await expect(one.removeInstance(id)).rejects.toThrow(right);
  expect((await one.list()).instances).toEqual([]);
});

test("D21: send refuses an instance of another chart, whatever its state", async () => {
  const one = await engine({ workflows: [lights, doors] }, "hall");
  const before = await storage.load("hall");
  const sent = one.send(doors, "hall", { type: "SWITCH" });
  await expect(sent).rejects.toBeInstanceOf(UnknownWorkflow);
  await expect(sent).rejects.toThrow(
    "instance hall is one of light@1, and not of door: use the handle of its own chart, or its id alone",
  );
  expect(await storage.load("hall")).toEqual(before);
  expect(await one.send(lights, "hall", { type: "SWITCH" })).toMatchObject({ kind: "stepped" });
  awaitsOutside("hall");
});

test("R2: after a send that fails those queued behind it under the same id are judged on their own", async () => {
  const one = await engine({ workflows: [lights, doors] }, "hall");
  const sent = [doors, lights, lights].map((each) => one.send(each, "hall", { type: "SWITCH" }));
  const [failed, ...behind] = await Promise.allSettled(sent);
  expect(failed).toMatchObject({ reason: expect.any(UnknownWorkflow) as unknown });
  expect(behind).toMatchObject([{ value: { kind: "stepped" } }, { value: { kind: "unchanged" } }]);
  awaitsOutside("hall");
});

test.each([
  ["xstate.stop", {}],
  ["xstate.done.actor.kid", { output: 1 }],
  ["xstate.error.actor.kid", {}],
  ["$migrated", {}],
])("D23: an event %s from a caller is refused", async (type, fields) => {
  const one = await engine(boss, "b");
  const before = await storage.load("b");
  await expect(one.send(boss, "b", { type, ...fields })).rejects.toThrow(
    new TypeError(`event.type: ${type}: events that begin with xstate. or $ are the engine's own`),
  );
  expect(await storage.load("b")).toEqual(before);
  awaitsOutside("b", "b/kid");
});

test("D23: a field of an event that begins with $ is refused, from a caller and from an effect", async () => {
  const jobs = job(async () => ({ event: { type: "DONE", by: "me", $run: 1 } }) as never);
  const one = await running(jobs, "j");
  await expect(one.send(jobs, "j", { type: "DONE", by: "me", $run: 1 } as never)).rejects.toThrow(
    new TypeError("event.$run: fields that begin with $ are the engine's own"),
  );
  await settled();
  expect(await one.failingTasks()).toMatchObject([
    { lastError: expect.stringContaining("event.$run: fields that begin with $") as string },
  ]);
  await one.stop();
  awaitsOutside("j");
});

test.each([
  ["a text", "DONE", "expected an object"],
  ["a number", 7, "expected an object"],
  ["a list", [{ type: "DONE" }], "expected an object"],
  ["an event in place of an outcome", { type: "DONE", by: "me" }, "outcome.type: not known"],
  ["a misspelt field", { evnt: { type: "DONE" } }, "outcome.evnt: not known"],
  ["an event that is a text", { event: "DONE" }, "outcome.event: expected an event"],
  ["an event without a type", { event: {} }, "outcome.event: expected an event"],
  ["one start in place of a list", { starts: {} }, "outcome.starts: expected a list"],
  ["a start without a workflow", { starts: [{ id: "x" }] }, "outcome.starts.0: expected what startOf"],
  ["one write in place of a list", { writes: {} }, "outcome.writes: expected a list"],
  ["a version that is a text", { expectedVersion: "1" }, "outcome.expectedVersion: expected a whole number"],
  [
    "a version without an event",
    { expectedVersion: 1, writes: [] },
    "outcome.expectedVersion: expected an event beside it",
  ],
])("D24, D95: an effect that returns %s is listed as failing", async (_name, outcome, sentence) => {
  let runs = 0;
  const done = { event: { type: "DONE", by: "me" } } as const;
  const work = async () => (++runs === 1 ? (outcome as never) : done);
  const jobs = workflow(jobChart)({ version: 1, effects: { work } });
  const one = await running(jobs, "j");
  await settled();
  expect(await one.failingTasks()).toMatchObject([
    { name: "work", lastError: expect.stringContaining(sentence) as string },
  ]);
  await pass(1_000);
  expect(await one.read("j")).toMatchObject({ status: "done" });
});

test("D27: a computed delay that is too long is refused with chart, instance, state and delay", async () => {
  const patient = workflow(
    setup({
      types: {
        context: {} as { ms: number },
        input: {} as number,
        events: {} as { type: "WAIT"; ms: number },
      },
      delays: { patience: ({ context }) => context.ms },
    }).createMachine({
      id: "patient",
      context: ({ input }) => ({ ms: input }),
      initial: "idle",
      states: {
        idle: { on: { WAIT: { target: "waiting", actions: assign({ ms: ({ event }) => event.ms }) } } },
        waiting: { after: { patience: "idle" } },
      },
    }),
  )({ version: 1 });
  const one = await engine(patient);
  await one.start(patient, { id: "p", input: 1 });
  const before = await storage.load("p");
  for (const ms of [1e16, Infinity]) {
    await expect(one.send(patient, "p", { type: "WAIT", ms })).rejects.toThrow(
      new RegExp(
        `^patient@1, p in state "idle": the delay of xstate\\.after\\.patience\\.patient\\.waiting.*: it is ${ms} ms`,
      ),
    );
  }
  expect(await storage.load("p")).toEqual(before);
  awaitsOutside("p");
});

it.each([-1, 1.5, 2 ** 53])(
  "D58: a limit of %d is refused by each list of an engine, by its name",
  async (limit) => {
    const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [] });
    const { list, history } = engine;
    const lists: Readonly<Record<string, (limit: number) => Promise<unknown>>> = {
      deadLetters: engine.deadLetters,
      failingTasks: engine.failingTasks,
      limits: engine.limits, // modules: rates
    };
    for (const [name, listed] of Object.entries(lists)) {
      await expect(listed(limit)).rejects.toThrow(`${name}: limit ${limit}: expected a whole number`);
    }
    await expect(list({ limit })).rejects.toThrow(`list: limit ${limit}: expected a whole number`);
    await expect(history("i", { limit })).rejects.toThrow(`history: limit ${limit}: expected a whole number`);
  },
);

it.each([
  ["an object", { id: "t" }],
  ["undefined", undefined],
  ["empty", ""],
  ["text with NUL", "a\0b"],
])("what is %s in place of an id is refused by each act on tasks", async (_name, given) => {
  const { retry, drop } = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [] });
  const id = given as string;
  for (const [name, act] of Object.entries({ retry, drop })) {
    const right = `${name}: expected the id of a task, as failingTasks() and deadLetters() list it`;
    await expect(act(id)).rejects.toThrow(new TypeError(right));
  }
});

it("D27: a delay that stands in the chart and is too long is refused by workflow(), with its state", () => {
  const chart = createMachine({
    id: "eternal",
    initial: "waiting",
    states: { waiting: { after: { 10_000_000_000_000_000: "over" } }, over: { type: "final" } },
  });
  expect(() => workflow(chart)({ version: 1 })).toThrow(
    /workflow "eternal" cannot be registered:\n- state "eternal\.waiting": the delay of 10000000000000000 ms is too long/,
  );
});
