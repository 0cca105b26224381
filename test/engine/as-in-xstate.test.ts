/** What a chart may do in XState it does here, too, or `workflow()` refuses it with the state and a way out. */
import { expect, it } from "vitest";
import {
  assign,
  cancel,
  createActor,
  createMachine,
  enqueueActions,
  raise,
  sendTo,
  setup,
  SimulatedClock,
  spawnChild,
  type AnyActorRef,
  type AnyStateMachine,
} from "xstate";
import { workflow } from "paystate/engine";
import { engineTest } from "../kit/engine-test.ts";

/** Counts what it has heard, by type. */
const heard = assign<Heard, Event, undefined, Event, never>({
  heard: ({ context, event }) => [...context.heard, event.type],
});
interface Heard {
  readonly heard: readonly string[];
}
interface Event {
  readonly type: string;
}

const raising = (count: number): AnyStateMachine =>
  createMachine({
    id: "raising",
    types: { context: {} as Heard, events: {} as Event },
    context: { heard: [] },
    on: {
      GO: { actions: Array.from({ length: count }, () => raise({ type: "N" })) as never },
      N: { actions: heard as never },
    },
  });

const cancelling: AnyStateMachine = createMachine({
  id: "cancelling",
  context: { heard: [] },
  on: {
    GO: { actions: [raise({ type: "N" }, { id: "n", delay: 10 }), cancel("n")] },
    AGAIN: {
      actions: [
        raise({ type: "N" }, { id: "n", delay: 10 }),
        cancel("n"),
        raise({ type: "M" }, { id: "n", delay: 20 }),
      ],
    },
    N: { actions: heard as never },
    M: { actions: heard as never },
  },
});

const kid = setup({ types: { events: {} as { type: "BREAK" } } }).createMachine({
  id: "kid",
  initial: "well",
  states: {
    well: {
      after: { 1_000: "old" },
      on: {
        BREAK: {
          actions: assign(() => {
            throw new RangeError("broken");
          }),
        },
      },
    },
    old: {},
  },
});

const caring = (onError: object | undefined, on: Record<string, object> = {}): AnyStateMachine =>
  setup({ actors: { kid } }).createMachine({
    id: "caring",
    context: { heard: [] },
    initial: "calm",
    states: {
      calm: {
        invoke: { id: "kid", src: "kid", ...(onError && { onError }) },
        on: { GO: { actions: sendTo("kid", { type: "BREAK" }) }, ...on },
      },
      sad: {},
    },
  });
const sad = {
  target: "sad",
  actions: assign({ heard: ({ event }: { event: { error?: unknown } }) => [(event.error as Error).message] }),
};

/** What XState makes of these events and this time. */
function inXState(machine: AnyStateMachine, events: readonly string[], ms: number): unknown {
  const clock = new SimulatedClock();
  const actor = createActor(machine, { clock }).start();
  for (const type of events) actor.send({ type });
  clock.increment(ms);
  const { value, context } = actor.getSnapshot() as { value: unknown; context: unknown };
  return { value, context };
}

const { test, engine, running, storage, settled, pass, awaitsOutside } = engineTest("as in XState");

test.each([
  ["150 raises of one step", raising(150), ["GO"]],
  ["the cancel of what the same step raised", cancelling, ["GO"]],
  ["a raise after such a cancel", cancelling, ["GO", "AGAIN"]],
  ["a later error of a child, told to onError", caring(sad), ["GO"]],
  ["a later error of a child, taken by xstate.error.*", caring(undefined, { "xstate.error.*": sad }), ["GO"]],
  ["a later error of a child, taken by *", caring(undefined, { "*": sad }), ["GO"]],
] as const)("D20: %s: as in XState", async (_name, machine, events) => {
  const charts = workflow(machine)({ version: 1 });
  const one = await running(charts, "c");
  for (const type of events) {
    await one.send(charts, "c", { type });
    await settled();
  }
  await pass(100);
  const { value, context } = (await one.read("c")) ?? {};
  expect({ value, context }).toEqual(inXState(machine, events, 100));
  awaitsOutside("c");
});

test("D20: the cancel of what the same step raised ends what an earlier step raised, too", async () => {
  const charts = workflow(cancelling)({ version: 1 });
  const one = await running(charts, "c");
  for (const type of ["AGAIN", "GO"]) await one.send(charts, "c", { type });
  expect((await one.pending("c")).timers).toEqual([]);
  await pass(100);
  expect((await one.read("c"))?.context).toEqual({ heard: [] });
  awaitsOutside("c");
});

test("D20: a child whose later error its parent takes has ended with it; of others it is tried again, in the open", async () => {
  const [taken, open] = [workflow(caring(sad))({ version: 1 }), workflow(caring(undefined))({ version: 2 })];
  const one = await running({ workflows: [taken, open] }, "t");
  await one.start(open, { id: "o", input: undefined });
  await one.send(taken, "t", { type: "GO" });
  await one.send(open, "o", { type: "GO" });
  await settled();
  expect(await one.read("t/kid")).toMatchObject({ status: "error", error: new RangeError("broken") });
  expect(await one.read("o/kid")).toMatchObject({ status: "active" });
  expect(await one.failingTasks()).toMatchObject([{ instance: "o/kid", lastError: "broken" }]);
  expect((await one.pending("t/kid")).timers).toEqual([]);
  await one.stop();
  awaitsOutside("t", "o", "o/kid");
});

test("D20: a name that enqueueActions computes, and nobody knows, fails its step and leaves nothing behind", async () => {
  const asking = workflow(
    createMachine({
      id: "asking",
      on: {
        GO: {
          actions: enqueueActions(({ enqueue, event }) =>
            enqueue(String((event as { name?: unknown }).name)),
          ),
        },
      },
    }),
  )({ version: 1 });
  const one = await engine(asking, "a");
  const before = await storage.load("a");
  await expect(one.send(asking, "a", { type: "GO", name: "nobody" })).rejects.toThrow(
    'asking@1: the action "nobody" has neither a handler nor a body',
  );
  expect(await storage.load("a")).toEqual(before);
  awaitsOutside("a");
});

const acting = setup({ actions: { mail: () => {} } });
const receiver = createMachine({ id: "receiver" });

it.each([
  [
    "a child whose every step is asked for",
    setup({ actors: { receiver } }).createMachine({
      id: "m",
      initial: "a",
      states: { a: { entry: spawnChild("receiver", { id: "r", syncSnapshot: true }) } },
    }),
    'state "m.a": syncSnapshot would need every step of the child',
  ],
])("D20: %s is refused by workflow()", (_name, machine: AnyStateMachine, sentence) => {
  expect(() => workflow(machine)({ version: 1 })).toThrow(sentence);
});

it.each([
  [
    "an inline function in enqueueActions",
    acting.createMachine({
      id: "m",
      initial: "a",
      states: { a: { entry: enqueueActions(({ enqueue }) => enqueue(() => {})) } },
    }),
    'state "m.a": enqueueActions may be given a function, which is refused; name it in setup({ actions })',
  ],
  [
    "an actor of another instance by its systemId",
    createMachine({
      id: "m",
      initial: "a",
      states: {
        a: { entry: sendTo(({ system }) => system.get("elsewhere") as never, { type: "ASK" } as never) },
      },
    }),
    'state "m.a": system.get("elsewhere") finds children of this chart alone, and none has this systemId',
  ],
  [
    "a child whose every step enqueueActions asks for",
    setup({ actors: { receiver } }).createMachine({
      id: "m",
      initial: "a",
      states: {
        a: {
          entry: enqueueActions(({ enqueue }) => {
            enqueue.spawnChild("receiver", { id: "r", syncSnapshot: true });
          }),
        },
      },
    }),
    'state "m.a": syncSnapshot of a child is refused; let it use sendParent',
  ],
  [
    "a look at the snapshot of a child",
    setup({ types: { context: {} as { seen: unknown } }, actors: { receiver } }).createMachine({
      id: "m",
      context: { seen: null },
      invoke: { id: "r", systemId: "r", src: "receiver" },
      initial: "a",
      states: {
        a: {
          entry: assign({ seen: ({ system }) => (system.get("r") as AnyActorRef).getSnapshot() as unknown }),
        },
      },
    }),
    'state "m.a": getSnapshot() of another actor is refused; let it tell by sendParent or sendTo',
  ],
  [
    "a name that only enqueueActions asks for, and nobody has",
    createMachine({
      id: "m",
      initial: "a",
      states: { a: { entry: enqueueActions(({ enqueue }) => enqueue("nobody")) } },
    }),
    "effects.nobody: enqueueActions seems to ask for it, no handler",
  ],
])(
  "D54: %s is a warning: the step that asks for it is refused",
  (_name, machine: AnyStateMachine, sentence) => {
    expect(workflow(machine)({ version: 1 }).warnings).toEqual([sentence]);
  },
);

it("D54: with effects given, a named action without a handler that only enqueueActions asks for is a warning", () => {
  const machine = acting.createMachine({
    id: "m",
    entry: enqueueActions(({ enqueue }) => enqueue({ type: "mail" })),
  });
  expect(workflow(machine)({ version: 1, effects: {} as never }).warnings).toEqual([
    "effects.mail: enqueueActions seems to ask for it, no handler",
  ]);
  expect(workflow(machine)({ version: 1, effects: { mail: "setup" } }).warnings).toEqual([]);
  expect(workflow(machine)({ version: 1 }).warnings).toEqual([]);
});
