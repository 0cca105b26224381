/** What `workflow()` and `createEngine()` refuse: everything at once, before anything runs. */
import {
  assign,
  createMachine,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
  raise,
  setup,
  spawnChild,
  type AnyStateMachine,
} from "xstate";
import { describe, expect, test } from "vitest";
import {
  createEngine,
  InvalidOptions,
  workflow,
  type AnyWorkflow,
  type EngineOptions,
} from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";

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

const listens = fromCallback(() => {});
const streams = fromObservable(() => ({ subscribe: () => ({ unsubscribe() {} }) }));
const counts = fromTransition((state: number) => state + 1, 0);

const oddities: Readonly<Record<string, readonly [machine: AnyStateMachine, problem: RegExp]>> = {
  "a callback actor": [
    chart({ id: "odd", initial: "here", states: { here: { invoke: { src: listens } } } }),
    /state "odd\.here": the actor xstate\.invoke\.0\.odd\.here: fromCallback.* use a watcher, an event sent from outside, or `after`/,
  ],
  "a callback actor behind a name": [
    setup({ actors: { listens } }).createMachine({
      id: "odd",
      initial: "here",
      states: { here: { invoke: { src: "listens" } } },
    }),
    /state "odd\.here": the actor "listens": fromCallback/,
  ],
  "an observable actor": [
    chart({ id: "odd", initial: "here", states: { here: { invoke: { src: streams } } } }),
    /state "odd\.here": .*fromObservable.* use a watcher/,
  ],
  "a transition actor": [
    chart({ id: "odd", initial: "here", states: { here: { invoke: { src: counts } } } }),
    /state "odd\.here": .*fromTransition keeps its state in memory; write it as a machine/,
  ],
  "an actor without logic": [
    chart({ id: "odd", initial: "here", states: { here: { invoke: { src: "nobody" } } } }),
    /state "odd\.here": the actor "nobody": it has no logic; give it in setup\(\{ actors \}\)/,
  ],
  "a callback spawned by spawnChild": [
    withEntry(spawnChild(listens as never)),
    /state "odd\.here": .*fromCallback/,
  ],
  onSnapshot: [
    chart({ id: "odd", initial: "here", states: { here: { invoke: { src: nothing, onSnapshot: {} } } } }),
    /state "odd\.here": onSnapshot .* sendParent/,
  ],
  "a context that cannot be stored": [
    chart({ id: "odd", context: { a: { socket: () => {} } }, initial: "here", states: { here: {} } }),
    /state "odd": context\.a\.socket cannot be stored: it is a function/,
  ],
};

describe("workflow() refuses a chart that cannot be durable, names the state and the way out", () => {
  test.each(Object.entries(oddities))("%s", (_name, [machine, problem]) => {
    const problems = problemsOf(() => register(machine, { effects: undefined }));
    expect(problems).toEqual([expect.stringMatching(problem)]);
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
      states: { here: { entry: ["work"], invoke: { src: "nobody" }, meta: { watches: ["sky"] } } },
    });
    expect(problemsOf(() => register(bad, { version: 0, effects: { wrok: async () => undefined } }))).toEqual(
      [
        expect.stringContaining('state "odd.here": the actor "nobody": it has no logic'),
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

  test("refuses a chart without an id, and says the line to add; a child machine needs none", () => {
    const here = { initial: "here", states: { here: {} } };
    const right =
      '- id: the chart has none, and its instances are stored under it: add `id: "order",` to createMachine({ … })';
    for (const nameless of [chart(here), chart({ ...here, id: "" }), setup({}).createMachine({})]) {
      expect(problemsOf(() => register(nameless))).toEqual([right]);
    }
    const parent = setup({ actors: { worker: chart(here) } }).createMachine({
      id: "parent",
      invoke: { src: "worker" },
    });
    expect(register(parent).child("worker").key).toBe("parent/worker@1");
  });

  test("D70: refuses a chart that has itself among its actors, directly or in a child: its children would never end", () => {
    const actors: Record<string, AnyStateMachine> = {};
    const doll = setup({ actors }).createMachine({ id: "doll", invoke: { id: "inner", src: "inner" } });
    actors["inner"] = doll;
    expect(() => register(doll)).toThrow(
      'workflow "doll/inner" cannot be registered:\n- it has itself among its actors',
    );
    actors["inner"] = setup({ actors }).createMachine({ id: "shell", invoke: { id: "again", src: "inner" } });
    expect(() => register(doll)).toThrow("it has itself among its actors");
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
      limitedSlots: 1.5,
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
        "limitedSlots",
        "leaseMs",
        "pollMs",
        "maxCrashes",
        "options",
      ].toSorted(),
    );
  });

  test("refuses two workflows of one name and version, and a watch that nobody polls", async () => {
    const storage = await sqliteStorage(":memory:");
    expect(refused({ storage, workflows: [here, plain, plain] })).toEqual([
      "workflows.2: plain@1 is registered twice",
      "watchers.sky: watching@1 watches it, no watcher polls it",
    ]);
  });
});
