/** `openChart` against XState's own `transition()`: the same next snapshot and the same actions, always. */
import fc from "fast-check";
import {
  assign,
  initialTransition,
  raise,
  setup,
  transition,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventObject,
} from "xstate";
import { describe, expect, test } from "vitest";
import { walletTransfer } from "paystate/machines";
import { webhookDelivery } from "../../machines/webhook-delivery.ts";
import { openChart } from "../../src/workflow/xstate/open-chart.ts";
import type { ActionScope, ChartAction, ChartSnapshot, ChartStep } from "../../src/workflow/chart.ts";
import { runsOf } from "../kit/thorough.ts";
import { withinBudget } from "../kit/exploration-budget.ts";

interface Subject {
  readonly machine: AnyStateMachine;
  readonly input: unknown;
  /** Events to draw from; timers are added as they are armed. */
  readonly events: readonly EventObject[];
}

/** Two regions that talk by `raise`, choose by `always`, reenter, and have timers inside one another. */
const parallel = setup({
  types: {
    context: {} as { count: number; note: string | null },
    events: {} as { type: "GO"; by: number } | { type: "BACK" } | { type: "PING" } | { type: "AGAIN" },
  },
  actions: { left: () => {}, right: (_, _params: { count: number }) => {}, both: () => {} },
  guards: { many: ({ context }) => context.count > 3 },
  delays: { short: ({ context }) => context.count, never: 0 },
}).createMachine({
  id: "parallel",
  context: () => ({ count: 0, note: null }),
  type: "parallel",
  on: { PING: { actions: "both" } },
  states: {
    zeta: {
      initial: "idle",
      states: {
        idle: {
          entry: "left",
          after: { short: "busy" },
          on: {
            GO: {
              target: "busy",
              actions: assign({ count: ({ context, event }) => context.count + event.by }),
            },
          },
        },
        busy: {
          entry: raise({ type: "AGAIN" }),
          exit: { type: "right", params: ({ context }) => ({ count: context.count }) },
          initial: "deep",
          after: { 500: "idle" },
          states: {
            deep: { after: { never: "deeper" } },
            deeper: { always: { guard: "many", target: "#parallel.zeta.over" }, entry: "left" },
          },
          on: { BACK: "idle", GO: { target: "busy", reenter: true } },
        },
        over: { type: "final" },
      },
    },
    alpha: {
      initial: "one",
      states: {
        one: { on: { AGAIN: "two" }, after: { 100: { actions: "left", target: "two" } } },
        two: {
          always: { guard: "many", target: "three" },
          on: {
            BACK: { target: "one", actions: ["left", assign({ note: () => "back" }), "both"] },
            AGAIN: {},
          },
        },
        three: { type: "final", entry: "both" },
      },
      onDone: { actions: assign({ note: () => "alpha is done" }) },
    },
  },
});

/** Guards that throw, targetless transitions, wildcard, and a transition that the inner state forbids. */
const moody = setup({
  types: { context: {} as { calm: boolean }, events: {} as { type: "A" } | { type: "B" } | { type: "C" } },
  actions: { sigh: () => {} },
  guards: {
    calm: ({ context }) => {
      if (!context.calm) throw new Error("not calm");
      return true;
    },
  },
}).createMachine({
  id: "moody",
  context: () => ({ calm: true }),
  initial: "out",
  on: { C: ".out", "*": { actions: "sigh" } },
  states: {
    out: { on: { A: "in", B: { guard: "calm", actions: assign({ calm: false }) } } },
    in: {
      initial: "x",
      on: { B: { actions: assign({ calm: ({ context }) => !context.calm }) } },
      states: {
        x: { on: { A: { guard: "calm", target: "y" }, C: undefined } },
        y: { on: { A: "x", C: {} } },
      },
    },
  },
});

/** Steps that begin with several microsteps, and a final state whose root still listens. */
const hasty = setup({
  types: {
    context: {} as { at: number },
    input: {} as { at: number },
    events: {} as { type: "NEXT" } | { type: "STOP" },
  },
  actions: { passed: (_, _params: { at: number }) => {}, ended: () => {} },
}).createMachine({
  id: "hasty",
  context: ({ input }) => ({ at: input.at }),
  initial: "rushing",
  on: { STOP: ".end" },
  states: {
    rushing: {
      entry: [
        assign({ at: ({ context }) => context.at + 1 }),
        { type: "passed", params: ({ context }) => context },
      ],
      always: [
        { guard: ({ context }) => context.at % 3 !== 0, target: "rushing", reenter: true },
        { target: "resting" },
      ],
    },
    resting: { on: { NEXT: "rushing" }, after: { 10: "rushing", 20: "end" } },
    end: { type: "final", entry: "ended" },
  },
});

const subjects: readonly Subject[] = [
  {
    machine: walletTransfer,
    input: { signature: "s", broadcastDelayMs: 0 },
    events: [
      { type: "CANCEL" },
      { type: "CONFIRMED" },
      { type: "FINALIZED", error: null, blockTime: 1, fee: "5000" } as EventObject,
      { type: "FINALIZED", error: "e", blockTime: null, fee: "5000" } as EventObject,
      { type: "EXPIRED" },
    ],
  },
  // modules: webhooks
  ...[null, "d0"].map((follows) => ({
    machine: webhookDelivery,
    input: {
      deliveryId: "d1",
      webhookId: "w",
      noticeId: "n",
      accountId: "a",
      follows,
      pausesMs: [1_000, 2_000],
    },
    events: [
      { type: "TURN_CAME" },
      { type: "FOLLOWED", by: "d2" } as EventObject,
      { type: "DELIVERED" },
      { type: "ATTEMPT_FAILED", durationMs: 100 } as EventObject,
      { type: "WEBHOOK_GONE" },
      { type: "GIVEN_UP" },
    ],
  })),
  {
    machine: parallel,
    input: undefined,
    events: [
      { type: "GO", by: 2 } as EventObject,
      { type: "BACK" },
      { type: "PING" },
      { type: "AGAIN" },
      { type: "STRANGE" },
    ],
  },
  { machine: moody, input: undefined, events: [{ type: "A" }, { type: "B" }, { type: "C" }, { type: "D" }] },
  { machine: hasty, input: { at: 1 }, events: [{ type: "NEXT" }, { type: "STOP" }, { type: "STRANGE" }] },
];

type OracleActions = readonly {
  readonly type: string;
  readonly params?: unknown;
  readonly info: ActionScope;
}[];

/** XState's list in the words of ours. */
function inOurWords(actions: OracleActions): ChartAction[] {
  return actions.flatMap(({ type, params, info: { context, event: seen } }): ChartAction[] => {
    const { id, delay, event, sendId } = (params ?? {}) as {
      id: string;
      delay?: number;
      event: EventObject;
      sendId: string;
    };
    if (type === "xstate.cancel") return [{ kind: "disarm", timer: sendId }];
    if (type !== "xstate.raise") {
      return [{ kind: "effect", effect: { name: type, params }, scope: { context, event: seen } }];
    }
    return delay === undefined ? [] : [{ kind: "arm", timer: id, delayMs: delay, event, to: "self" }];
  });
}

type Outcome<T> = { readonly value: T } | { readonly threw: string };

function outcomeOf<T>(act: () => T): Outcome<T> {
  try {
    return { value: act() };
  } catch (error) {
    return { threw: String(error) };
  }
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const partsOf = (snapshot: AnyMachineSnapshot): unknown => {
  const { value, context, status } = snapshot as { value: unknown; context: unknown; status: unknown };
  return json({ value, context, status });
};

/** What one event makes of a chart, as far as it is stored or carried out. */
interface Told {
  readonly after: unknown;
  readonly actions: readonly ChartAction[];
}

/** What XState says of one event: the next snapshot with its actions, an exception, or nothing at all. */
function oracleStep(
  machine: AnyStateMachine,
  before: AnyMachineSnapshot,
  event: EventObject,
): { readonly expected: Outcome<Told | null>; readonly next: AnyMachineSnapshot | null } {
  let next: AnyMachineSnapshot | null = null;
  const expected = outcomeOf(() => {
    if (before.status === "done") return null; // our rule: who has ended takes nothing
    const [after, actions] = transition(machine, before, event) as [AnyMachineSnapshot, OracleActions];
    if (after.status === "error") throw after.error;
    if (after === before && actions.length === 0) return null;
    next = after;
    return { after: partsOf(after), actions: inOurWords(actions) };
  });
  return { expected, next };
}

/** Our step in the words of the oracle. */
function inWords(step: Outcome<ChartStep | null>): Outcome<Told | null> {
  if ("threw" in step || step.value === null) return step;
  return { value: { after: json(step.value.after), actions: step.value.actions } };
}

describe.each(subjects)("$machine.id, $input", ({ machine, input, events }) => {
  const chart = openChart(machine);

  test("steps exactly as XState's transition() does, though every snapshot went through JSON in between", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 40 }), (choices) => {
        const first = chart.start(input);
        const [initial, asked] = initialTransition(machine, input) as [AnyMachineSnapshot, OracleActions];
        expect(json(first.after)).toEqual(partsOf(initial));
        expect(first.actions).toEqual(inOurWords(asked));

        let ours = json(first.after) as ChartSnapshot;
        // XState's own snapshot lives on, as it would in an actor that never stops.
        let theirs = initial;
        const possible = [...events];
        const remember = (actions: readonly ChartAction[]): void => {
          for (const action of actions) if (action.kind === "arm") possible.push(action.event);
        };
        remember(first.actions);
        for (const choice of choices) {
          const event = possible[choice % possible.length] as EventObject;
          const { expected, next } = oracleStep(machine, theirs, event);
          const stored = JSON.stringify(ours);
          const step = outcomeOf(() => chart.step(ours, event));
          expect(JSON.stringify(ours), "what was handed in is not touched").toBe(stored);
          expect(inWords(step)).toEqual(expected);
          if ("threw" in step || step.value === null) continue;
          ours = json(step.value.after) as ChartSnapshot;
          theirs = next ?? theirs;
          remember(step.value.actions);
        }
      }),
      { numRuns: runsOf(200), plugins: [withinBudget()] },
    );
  });
});

test("a chart that chooses in a circle is stopped instead of spinning for ever", () => {
  const circle = setup({}).createMachine({
    id: "circle",
    initial: "a",
    states: { a: { on: { GO: "b" } }, b: { always: "c" }, c: { always: "b" } },
  });
  const chart = openChart(circle);
  expect(() => chart.step(chart.start(undefined).after, { type: "GO" })).toThrow(/loop|iterations/i);
});

test("who has ended takes no event, not even one that the root listens to", () => {
  const chart = openChart(hasty);
  const ended = chart.step(chart.start({ at: 1 }).after, { type: "STOP" });
  expect(ended?.after).toMatchObject({ value: "end", status: "done" });
  expect(chart.step(ended?.after as ChartSnapshot, { type: "STOP" })).toBeNull();
});
