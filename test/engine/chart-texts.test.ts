/** Charts are judged by what their steps ask for, and never by the texts of their functions. */
import { expect, it } from "vitest";
import {
  assign,
  createActor,
  createMachine,
  enqueueActions,
  sendParent,
  sendTo,
  setup,
  type AnyActorRef,
  type AnyStateMachine,
} from "xstate";
import { createEngine, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { engineTest } from "../kit/engine-test.ts";

const note = assign({ note: "noted" }) as never;

/** Takes GO by this action, and notes that it did. */
const taking = (action: unknown): AnyStateMachine =>
  createMachine({
    id: "m",
    context: { note: null },
    initial: "a",
    states: { a: { on: { GO: { actions: action as never } } } },
  });

/** A store of the host's own, which no chart has to do with. */
const store = { getSnapshot: () => ({ price: 5 }) };
const helped = (enqueue: (action: never) => void, ..._others: readonly unknown[]): void => enqueue(note);

const innocents: Readonly<Record<string, AnyStateMachine>> = {
  "that hands `self` to a helper": taking(
    enqueueActions(({ enqueue, check, self, context }) => helped(enqueue as never, check, self, context)),
  ),
  "that takes `self` out of its arguments": taking(
    enqueueActions((args) => {
      const { enqueue, self } = args;
      helped(enqueue, self);
    }),
  ),
  "that reads a store of the host's": taking(
    assign({ note: () => store.getSnapshot().price as unknown as null }),
  ),
  "with a text that looks like an inline function": taking(
    enqueueActions(({ enqueue }) => {
      if ("enqueue(() => {})".length > 0) enqueue(note);
    }),
  ),
  "with a text that looks like the name of an action": taking(
    enqueueActions(({ enqueue }) => {
      if ('enqueue("nobody")'.length > 0) enqueue(note);
    }),
  ),
  "that enqueues what a variable holds": taking(enqueueActions(({ enqueue }) => enqueue(note))),
  "that asks for its own snapshot": taking(
    assign({ note: ({ self }: { self: AnyActorRef }) => (self.getSnapshot() as { value: null }).value }),
  ),
};

/** Helpers whose texts are not the chart's. */
const look = (actor: AnyActorRef): unknown => actor.getSnapshot() as unknown;
const find = (system: { get(name: never): unknown }, name: string): unknown => system.get(name as never);
const idle = (): void => {};

const kid = createMachine({ id: "kid", on: { ASK: { actions: sendParent({ type: "ANSWER" }) } } });

/** As `taking`, beside a child. */
const caring = (action: unknown): AnyStateMachine =>
  setup({ actors: { kid } }).createMachine({
    id: "m",
    context: { note: null },
    initial: "a",
    states: { a: { invoke: { id: "kid", src: "kid" }, on: { GO: { actions: action as never } } } },
  });

interface Scope {
  readonly self: AnyActorRef;
  readonly system: { get(name: never): AnyActorRef };
  readonly spawn: (src: string) => unknown;
}

const faults: Readonly<Record<string, readonly [action: unknown, sentence: string]>> = {
  "an actor by a name that no child has": [
    assign({ note: (({ system }: Scope) => find(system, "kid")) as never }),
    'system.get("kid") finds children of this chart alone, and none has this systemId',
  ],
  "an inline function": [
    enqueueActions(({ enqueue }) => enqueue(idle)),
    'enqueueActions: the action "idle" is written inline',
  ],
  "an actor that its setup does not name": [
    assign({ note: (({ spawn }: Scope) => helpedSpawn(spawn)) as never }),
    'spawn: the actor "nobody" is not known; name it in setup({ actors })',
  ],
  "every step of a child": [
    enqueueActions(({ enqueue }) => {
      const options = { id: "other", ["syncSnapshot" as never]: true };
      enqueue.spawnChild("kid" as never, options);
    }),
    "spawnChild: syncSnapshot would need every step of the child",
  ],
};

function helpedSpawn(spawn: Scope["spawn"]): unknown {
  return spawn("nobody");
}

const { test, engine, running, storage, settled, awaitsOutside } = engineTest("chart texts");

test.each(Object.entries(innocents))("D54: a chart %s runs as in XState", async (_name, machine) => {
  const charts = workflow(machine)({ version: 1 });
  const one = await engine(charts, "c");
  await one.send(charts, "c", { type: "GO" });
  const actor = createActor(machine).start();
  actor.send({ type: "GO" });
  expect((await one.read("c"))?.context).toEqual((actor.getSnapshot() as { context: unknown }).context);
  awaitsOutside("c");
});

test.each(Object.entries(faults))(
  "D54: a chart that asks for %s in a helper is refused in that step, with chart, instance and state",
  async (_name, [action, sentence]) => {
    const charts = workflow(caring(action))({ version: 1 });
    const one = await engine(charts, "c");
    const before = await storage.load("c");
    const sent = one.send(charts, "c", { type: "GO" });
    await expect(sent).rejects.toThrow(`m@1, c in state "a": `);
    await expect(sent).rejects.toThrow(sentence);
    expect(await storage.load("c")).toEqual(before);
    awaitsOutside("c", "c/kid");
  },
);

test("D54: getSnapshot() of a child that its systemId finds is refused, and one that has ended is not found", async () => {
  const seeing = setup({
    actors: {
      kid: createMachine({
        id: "kid",
        initial: "a",
        states: { a: { on: { END: "b" } }, b: { type: "final" } },
      }),
    },
  }).createMachine({
    id: "seeing",
    context: { seen: null },
    initial: "a",
    states: {
      a: {
        invoke: { id: "kid", systemId: "kid", src: "kid" },
        on: {
          GO: { actions: assign({ seen: ({ system }) => look(find(system, "kid") as AnyActorRef) }) },
          LEAVE: "b",
        },
      },
      b: { on: { GO: { actions: assign({ seen: ({ system }) => find(system, "kid") === undefined }) } } },
    },
  });
  const charts = workflow(seeing)({ version: 1 });
  const one = await running(charts, "c");
  await expect(one.send(charts, "c", { type: "GO" })).rejects.toThrow(
    'seeing@1, c in state "a": getSnapshot() of "kid": a step sees no other actor',
  );
  await one.send(charts, "c", { type: "LEAVE" });
  await one.send(charts, "c", { type: "GO" });
  await settled();
  expect((await one.read("c"))?.context).toEqual({ seen: true });
  awaitsOutside("c");
});

test("D54: a fault in the chart of a child says in which, and is told to no onError", async () => {
  const faulty = createMachine({
    id: "faulty",
    initial: "well",
    states: { well: { on: { BREAK: { actions: enqueueActions(({ enqueue }) => enqueue(idle)) } } } },
  });
  const parent = setup({ actors: { faulty } }).createMachine({
    id: "parent",
    initial: "calm",
    states: {
      calm: {
        invoke: { id: "kid", src: "faulty", onError: "sad" },
        on: { GO: { actions: sendTo("kid", { type: "BREAK" }) } },
      },
      sad: {},
    },
  });
  const charts = workflow(parent)({ version: 1 });
  const one = await running(charts, "p");
  await one.send(charts, "p", { type: "GO" });
  await settled();
  expect(await one.failingTasks()).toMatchObject([
    {
      instance: "p/kid",
      lastError: expect.stringContaining('parent/faulty@1, p/kid in state "well": enqueueActions:') as string,
    },
  ]);
  expect(await one.read("p")).toMatchObject({ value: "calm" });
  await one.stop();
  awaitsOutside("p", "p/kid");
});

test("D54: an action that asks its system for an actor has failed, and says why", async () => {
  const asking = createMachine({ id: "asking", entry: ({ system }) => void find(system, "kid") });
  const charts = workflow(asking)({ version: 1 });
  const one = await running(charts, "c");
  await settled();
  expect(await one.failingTasks()).toMatchObject([
    {
      lastError: expect.stringContaining(
        'system.get("kid"): an action or a promise finds no actors',
      ) as string,
    },
  ]);
  await one.stop();
  awaitsOutside("c");
});

it("D54: what looks like a fault is a warning of the engine that has the chart, and named once", async () => {
  const lines: [object, string][] = [];
  const quiet = (): void => {};
  const logger = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (...line: [object, string]) => lines.push(line),
  };
  const machine = caring(enqueueActions(({ enqueue }) => enqueue(() => {})));
  const charts = workflow(machine)({ version: 1 });
  createEngine({ storage: await sqliteStorage(":memory:"), workflows: [charts], logger });
  expect(lines).toEqual([
    [
      { workflow: "m@1" },
      'state "m.a": enqueueActions may be given a function, which is refused; name it in setup({ actions })',
    ],
  ]);
});
