/** What `workflow()` and `createEngine()` refuse: everything at once, before anything runs. */
import {
  assign,
  createMachine,
  emit,
  enqueueActions,
  fromPromise,
  log,
  raise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
} from "xstate";
import type { AnyStateMachine } from "xstate";
import { describe, expect, test } from "vitest";
import { createEngine, InvalidOptions, workflow } from "paystate/engine";
import type { AnyWorkflow, EngineOptions } from "paystate/engine";
import { memoryStorage } from "paystate/storage/memory";

/** Registers a chart without its types, as JavaScript would. */
function register(machine: AnyStateMachine, options: object = {}): AnyWorkflow {
  return workflow(machine)({ version: 1, effects: {}, ...options } as never);
}

/** The sentences of a refusal, one per problem. */
function problemsOf(act: () => unknown): string[] {
  return refusal(act).message.split("\n").slice(1);
}

function refusal(act: () => unknown): TypeError {
  try {
    act();
  } catch (error) {
    if (error instanceof TypeError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

const nothing = fromPromise(async () => {});
const chart = (config: object): AnyStateMachine => createMachine(config as never) as AnyStateMachine;
const withEntry = (entry: unknown): AnyStateMachine =>
  chart({ id: "odd", initial: "here", states: { here: { entry } } });

const oddities: Readonly<Record<string, readonly [machine: AnyStateMachine, problem: RegExp]>> = {
  "an effect body written inline": [
    withEntry(() => {}),
    /state "odd\.here": an effect body is written inline/,
  ],
  "an inline body on a transition": [
    chart({ id: "odd", initial: "here", states: { here: { on: { GO: { actions: () => {} } } } } }),
    /state "odd\.here": an effect body is written inline/,
  ],
  "an inline body on an exit": [
    chart({ id: "odd", initial: "here", states: { here: { exit: () => {} } } }),
    /state "odd\.here": an effect body is written inline/,
  ],
  "an inline body behind always": [
    chart({ id: "odd", initial: "a", states: { a: { always: { target: "b", actions: () => {} } }, b: {} } }),
    /state "odd\.a": an effect body is written inline/,
  ],
  "an inline body behind after": [
    chart({
      id: "odd",
      initial: "a",
      states: { a: { after: { 5: { target: "b", actions: () => {} } } }, b: {} },
    }),
    /state "odd\.a": an effect body is written inline/,
  ],
  "an inline body of an initial transition": [
    chart({ id: "odd", initial: { target: "here", actions: () => {} }, states: { here: {} } }),
    /state "odd": an effect body is written inline/,
  ],
  invoke: [
    chart({ id: "odd", initial: "here", states: { here: { invoke: { src: nothing } } } }),
    /state "odd\.here": invoke is not durable/,
  ],
  spawnChild: [withEntry(spawnChild(nothing as never)), /state "odd\.here": the action xstate\.spawnChild/],
  sendTo: [withEntry(sendTo("someone", { type: "HEY" })), /state "odd\.here": the action xstate\.sendTo/],
  sendParent: [withEntry(sendParent({ type: "HEY" })), /state "odd\.here": the action xstate\.sendTo/],
  emit: [withEntry(emit({ type: "heard" })), /state "odd\.here": the action xstate\.emit/],
  log: [withEntry(log("hello")), /state "odd\.here": the action xstate\.log/],
  enqueueActions: [
    withEntry(enqueueActions(() => {})),
    /state "odd\.here": the action xstate\.enqueueActions/,
  ],
  "a delayed raise": [
    withEntry(raise({ type: "LATER" }, { delay: 1_000 })),
    /state "odd\.here": a delayed raise is not durable; use "after"/,
  ],
  "a raise delayed by nothing": [
    withEntry(raise({ type: "LATER" }, { delay: 0 })),
    /state "odd\.here": a delayed raise is not durable/,
  ],
  "a history state": [
    chart({
      id: "odd",
      initial: "a",
      states: { a: { initial: "b", states: { b: {}, back: { type: "history" } } } },
    }),
    /state "odd\.a\.back": history states are not stored/,
  ],
  "a context that all instances would share": [
    chart({ id: "odd", context: { count: 0 }, initial: "here", states: { here: {} } }),
    /state "odd": the context is an object/,
  ],
  "a delayed raise behind a name": [
    setup({ actions: { wait: raise({ type: "LATER" }, { delay: 5 }) } }).createMachine({
      id: "odd",
      initial: "here",
      states: { here: { entry: "wait" } },
    }),
    /state "odd\.here": .*wait.*write it inline/,
  ],
  "an assign behind a name": [
    setup({ actions: { count: assign({}) } }).createMachine({
      id: "odd",
      initial: "here",
      states: { here: { on: { GO: { actions: { type: "count" } } } } },
    }),
    /state "odd\.here": .*count.*write it inline/,
  ],
};

describe("workflow() refuses a chart outside the durable shape and names the state", () => {
  test.each(Object.entries(oddities))("%s", (_, [machine, problem]) => {
    const problems = problemsOf(() => register(machine));
    expect(problems.filter((sentence) => problem.test(sentence))).toHaveLength(1);
    expect(problems, "and nothing else is wrong with it").toHaveLength(1);
  });
});

const watching = setup({
  types: { meta: {} as { watches: readonly string[] } },
  actions: { work: () => {}, start: (_, _params: object) => {}, tell: (_, _params: object) => {} },
}).createMachine({
  id: "watching",
  initial: "here",
  states: {
    here: {
      meta: { watches: ["sky"] },
      entry: [
        "work",
        { type: "start", params: {} },
        { type: "tell", params: {} },
        assign({}),
        raise({ type: "X" }),
      ],
    },
  },
});

describe("workflow()", () => {
  test("says everything that is wrong in one error", () => {
    const bad = chart({
      id: "odd",
      initial: "here",
      states: { here: { entry: ["work", () => {}], meta: { watches: ["sky"] } } },
    });
    expect(problemsOf(() => register(bad, { version: 0, effects: { wrok: async () => undefined } }))).toEqual(
      [
        expect.stringContaining('state "odd.here": an effect body is written inline'),
        "- version: expected a whole number above 0",
        "- effects.work: the chart asks for it, no handler",
        "- effects.wrok: the chart never asks for it",
        "- watches.sky: a state arms it, no key given",
      ],
    );
  });

  test.each([0, -1, 1.5, Number.NaN, "1"])("refuses the version %s", (version) => {
    const plain = chart({ id: "plain", initial: "here", states: { here: {} } });
    expect(problemsOf(() => register(plain, { version }))).toEqual([
      "- version: expected a whole number above 0",
    ]);
  });

  test("takes start and tell, assign and raise without handlers", () => {
    const registered = register(watching, {
      effects: { work: async () => undefined },
      watches: { sky: () => "sky" },
    });
    expect(registered.key).toBe("watching@1");
  });

  test("the hash of a chart sees its states and delays, not how its functions are written", () => {
    const of = (config: object): string => register(chart({ id: "h", initial: "a", ...config })).hash;
    const base = of({ states: { a: { after: { 5: "b" } }, b: {} } });
    expect(of({ states: { a: { description: "first", after: { 5: "b" } }, b: {} } })).toBe(base);
    expect(of({ states: { a: { after: { 6: "b" } }, b: {} } })).not.toBe(base);
    expect(of({ states: { a: { after: { 5: "b" } }, b: { type: "final" } } })).not.toBe(base);
  });
});

describe("createEngine()", () => {
  const here = register(watching, {
    effects: { work: async () => undefined },
    watches: { sky: () => "sky" },
  });
  const plain = register(chart({ id: "plain", initial: "here", states: { here: {} } }));
  const refused = (options: object): readonly string[] => {
    const error = refusal(() => createEngine(options as EngineOptions<unknown>));
    return error instanceof InvalidOptions ? error.problems : [String(error)];
  };

  test("says every wrong option at once, each with its path", () => {
    const problems = refused({
      storage: {},
      workflows: [plain, {}],
      clock: { now: 5 },
      random: null,
      logger: {},
      watchers: { sky: { intervalMs: 0, poll: "often" } },
      slots: 0,
      lanedSlots: 1.5,
      leaseMs: 999,
      pollMs: 60_001,
      maxCrashes: "5",
      holder: "me",
    });
    expect(problems.map((sentence) => sentence.slice(0, sentence.indexOf(":"))).toSorted()).toEqual(
      [
        "storage",
        "workflows.1",
        "clock",
        "random",
        "logger",
        "watchers.sky.intervalMs",
        "watchers.sky.poll",
        "slots",
        "lanedSlots",
        "leaseMs",
        "pollMs",
        "maxCrashes",
        "options",
      ].toSorted(),
    );
  });

  test("refuses two workflows of one name and version, and a watch that nobody polls", () => {
    expect(refused({ storage: memoryStorage(), workflows: [here, plain, plain] })).toEqual([
      "watchers.sky: watching@1 watches it, nobody polls it",
      "workflows.2: plain@1 is registered twice",
    ]);
  });

  test("takes two versions of one chart side by side", () => {
    const second = register(plain.machine, { version: 2 });
    expect(() => createEngine({ storage: memoryStorage(), workflows: [plain, second] })).not.toThrow();
  });
});
