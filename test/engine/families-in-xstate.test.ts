/** Ends of children, and what is due at one moment, come to a chart in the order in which XState tells them. */
import { expect } from "vitest";
import {
  assign,
  createActor,
  createMachine,
  raise,
  sendParent,
  sendTo,
  setup,
  SimulatedClock,
  spawnChild,
  type AnyStateMachine,
} from "xstate";
import { workflow } from "paystate/engine";
import { engineTest } from "../kit/engine-test.ts";

interface Heard {
  readonly heard: readonly string[];
}
interface AnyEvent {
  readonly type: string;
  readonly output?: unknown;
}

/** Adds the type of each event to the context, with the output of a child that has ended. */
const heard = assign<Heard, AnyEvent, undefined, AnyEvent, never>({
  heard: ({ context, event: { type, output } }) => [
    ...context.heard,
    output === undefined ? type : `${type}: ${JSON.stringify(output)}`,
  ],
}) as never;

const CHILD_DONE = "xstate.done.actor.kid";

/** Ends when it is told to, and says so to its parent before its end does. */
const telling = createMachine({
  id: "telling",
  initial: "well",
  states: { well: { on: { END: "over" } }, over: { type: "final", entry: sendParent({ type: "BYE" }) } },
});

/** Leaves the state of its child where the child says goodbye; `reenters`: to enter it anew. */
const leaving = (reenters: boolean): AnyStateMachine =>
  setup({ actors: { telling } }).createMachine({
    id: "leaving",
    context: { heard: [] },
    initial: "caring",
    on: { [CHILD_DONE]: { actions: heard } },
    states: {
      caring: {
        invoke: { id: "kid", src: "telling" },
        on: {
          GO: { actions: sendTo("kid", { type: "END" }) },
          BYE: reenters
            ? { target: "caring", reenter: true, actions: heard }
            : { target: "alone", actions: heard },
        },
      },
      alone: {},
    },
  });

/** Ends by itself after some time, or with its parent. */
const ticking = createMachine({
  id: "ticking",
  initial: "well",
  states: { well: { after: { 50: "over" }, on: { END: "over" } }, over: { type: "final" } },
});

const left: AnyStateMachine = setup({ actors: { ticking } }).createMachine({
  id: "left",
  context: { heard: [] },
  initial: "caring",
  on: { "*": { actions: heard } },
  states: {
    caring: { invoke: { id: "kid", src: "ticking" }, on: { GO: { target: "alone", actions: heard } } },
    alone: {},
  },
});

/** Waits for as long as it is told, and hands that back. */
const waiting = setup({
  types: { context: {} as { ms: number }, input: {} as { ms: number } },
  delays: { patience: ({ context }) => context.ms },
}).createMachine({
  id: "waiting",
  context: ({ input }) => input,
  initial: "well",
  states: { well: { after: { patience: "over" } }, over: { type: "final" } },
  output: ({ context }) => context.ms,
});

/** Begins a second child under the id of the first one, which lives longer. */
const doubling: AnyStateMachine = setup({ actors: { waiting } }).createMachine({
  id: "doubling",
  context: { heard: [] },
  initial: "open",
  states: {
    open: {
      on: {
        GO: {
          actions: [
            spawnChild("waiting", { id: "kid", input: { ms: 80 } }),
            spawnChild("waiting", { id: "kid", input: { ms: 40 } }),
          ],
        },
        END: "over",
        "*": { actions: heard },
      },
    },
    over: { type: "final" },
  },
});

/** Says hello as it begins. */
const greeting = createMachine({ id: "greeting", entry: sendParent({ type: "HELLO" }) });

const hasty: AnyStateMachine = setup({ actors: { greeting } }).createMachine({
  id: "hasty",
  context: { heard: [] },
  initial: "calm",
  states: {
    calm: { on: { GO: "busy" } },
    busy: {
      invoke: { id: "kid", src: "greeting" },
      after: { 0: { actions: heard } },
      on: { HELLO: { actions: heard } },
    },
  },
});

const toItself = (...types: readonly string[]) =>
  types.map((type) => sendTo(({ self }) => self, { type }) as never);

/** Raises with a delay of 0, before it sends to itself. */
const raising = (isFirst: boolean): AnyStateMachine => {
  const acts = [raise({ type: "LATER" }, { delay: 0 }), ...toItself("ONE", "TWO")];
  return createMachine({
    id: "raising",
    context: { heard: [] },
    on: { GO: isFirst ? {} : { actions: acts }, "*": { actions: heard } },
    ...(isFirst ? { entry: acts } : {}),
  });
};

/** Two timers of one moment, of which the first tells itself, or asks its child. */
const together = (...first: readonly object[]): AnyStateMachine =>
  setup({
    actors: {
      answering: createMachine({ id: "answering", on: { ASK: { actions: sendParent({ type: "ANSWER" }) } } }),
    },
  }).createMachine({
    id: "together",
    context: { heard: [] },
    invoke: { id: "kid", src: "answering" },
    on: {
      GO: {
        actions: [raise({ type: "FIRST" }, { delay: 50 }), raise({ type: "SECOND" }, { delay: 50 })] as never,
      },
      FIRST: { actions: [heard, ...first] as never },
      "*": { actions: heard },
    },
  });

/** What XState makes of one event and this time. */
function inXState(machine: AnyStateMachine, ms: number): unknown {
  const clock = new SimulatedClock();
  const actor = createActor(machine, { clock }).start();
  actor.send({ type: "GO" });
  clock.increment(ms);
  const { value, context } = actor.getSnapshot() as { value: unknown; context: unknown };
  return { value, context };
}

const { test, engine, running, settled, pass, awaitsOutside } = engineTest("families in XState");

/** The same durably, over one engine or two. */
async function expectAsInXState(machine: AnyStateMachine, engines = 1): Promise<void> {
  const charts = workflow(machine)({ version: 1 });
  const [one, ...others] = await Promise.all(Array.from({ length: engines }, () => engine(charts)));
  if (one === undefined) return;
  for (const each of [one, ...others]) each.run();
  await one.start(charts, { id: "c", input: undefined });
  await settled();
  await one.send(charts, "c", { type: "GO" });
  await settled();
  await pass(100);
  const { value, context } = (await one.read("c")) ?? {};
  expect({ value, context }).toEqual(inXState(machine, 100));
  awaitsOutside("c", "c/kid", "c/kid~2");
}

test.each([
  ["that tells its parent first, which leaves for that", leaving(false)],
  ["that tells its parent first, which begins it anew for that", leaving(true)],
  ["that its parent has left before", left],
])("D87: the end of a child %s: as in XState", async (_name, machine) => expectAsInXState(machine));

test("D87: the end of a child counts that came before its parent left it, and none that came after", async () => {
  const charts = workflow(left)({ version: 1 });
  const one = await engine(charts);
  const kids = charts.child("ticking" as never);
  for (const id of ["before", "after"]) await one.start(charts, { id, input: undefined });
  await one.send(kids, "before/kid", { type: "END" });
  await one.send(charts, "before", { type: "GO" });
  await one.send(charts, "after", { type: "GO" });
  await one.send(kids, "after/kid", { type: "END" });
  one.run();
  await settled();
  expect((await one.read("before"))?.context).toEqual({ heard: ["GO", CHILD_DONE] });
  expect((await one.read("after"))?.context).toEqual({ heard: ["GO"] });
  awaitsOutside("before", "after");
});

test.each([
  ["`after: 0` beside a child's message", hasty],
  ["a delay of 0 that is raised before messages to itself", raising(false)],
  ["a delay of 0 that is raised before messages to itself, at the start", raising(true)],
  ["two timers of one moment, of which the first tells itself", together(...toItself("ONE", "TWO"))],
  ["two timers of one moment, of which the first asks a child", together(sendTo("kid", { type: "ASK" }))],
])("D88: %s: as in XState", async (_name, machine) => expectAsInXState(machine));

test("D52: two children under one id end with their parent", async () => {
  const charts = workflow(doubling)({ version: 1 });
  const one = await running(charts);
  for (const id of ["ended", "stopped"]) {
    await one.start(charts, { id, input: undefined });
    await one.send(charts, id, { type: "GO" });
    const { children } = await one.pending(id);
    expect(children).toMatchObject([
      { id: "kid", instance: `${id}/kid~2`, status: "active" },
      { id: "kid", instance: `${id}/kid`, status: "active" },
    ]);
  }
  await one.send(charts, "ended", { type: "END" });
  await one.stopInstance("stopped");
  await settled();
  for (const id of ["ended", "stopped"]) {
    expect(await one.read(`${id}/kid`)).toMatchObject({ status: "stopped" });
    expect(await one.read(`${id}/kid~2`)).toMatchObject({ status: "stopped" });
    expect(await one.removeInstance(id)).toBe("removed");
  }
});
