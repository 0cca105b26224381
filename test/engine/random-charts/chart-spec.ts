/** Random charts as plain data, so that fast-check can print and shrink them. */
import fc from "fast-check";

/** What an action does. `of` chooses among the events, timers and children that there are. */
export interface ActionSpec {
  readonly kind:
    "count" | "take" | "note" | "raise" | "later" | "cancel" | "sendSelf" | "tellParent" | "tellChild";
  readonly of: number;
}

/** Numbers choose: which event, which guard, and which state of the chart is the target, none for null. */
export interface TransitionSpec {
  readonly event: number;
  readonly guard: number;
  readonly target: number | null;
  readonly reenter: boolean;
  readonly actions: readonly ActionSpec[];
}

export type InvokeSpec =
  | { readonly kind: "promise"; readonly onDone: TransitionSpec; readonly onError: TransitionSpec }
  | { readonly kind: "machine"; readonly chart: StateSpec; readonly onDone: TransitionSpec };

export interface StateSpec {
  readonly type: "plain" | "parallel" | "final" | "shallow" | "deep";
  readonly initial: number;
  readonly states: readonly StateSpec[];
  readonly on: readonly TransitionSpec[];
  readonly always: TransitionSpec | null;
  readonly after: TransitionSpec | null;
  readonly onDone: TransitionSpec | null;
  readonly entry: readonly ActionSpec[];
  readonly exit: readonly ActionSpec[];
  readonly invoke: InvokeSpec | null;
}

/** What happens to a chart. A settlement chooses among the calls that wait, time goes on to the next timer or half way there. */
export type HappeningSpec =
  | { readonly kind: "send"; readonly event: number }
  | { readonly kind: "settle"; readonly which: number; readonly isGood: boolean }
  | { readonly kind: "time" }
  | { readonly kind: "half" };

const number = fc.nat({ max: 30 });

const action: fc.Arbitrary<ActionSpec> = fc.record({
  kind: fc.constantFrom(
    "count",
    "take",
    "note",
    "raise",
    "later",
    "cancel",
    "sendSelf",
    "tellParent",
    "tellChild",
  ),
  of: number,
});
const actions = fc.array(action, { maxLength: 2 });

const transition: fc.Arbitrary<TransitionSpec> = fc.record({
  event: number,
  guard: number,
  target: fc.option(number, { freq: 4 }),
  reenter: fc.boolean(),
  actions,
});

const MAX_DEPTH = 3;
/** A chart within a chart within a chart. */
const MAX_GENERATIONS = 3;

function state(depth: number, generation: number): fc.Arbitrary<StateSpec> {
  const isLeaf = depth === MAX_DEPTH;
  return fc.record({
    type: fc.constantFrom("plain", "plain", "plain", "parallel", "final", "shallow", "deep"),
    initial: number,
    states: isLeaf ? fc.constant([]) : fc.array(state(depth + 1, generation), { maxLength: 3 }),
    on: fc.array(transition, { maxLength: 2 }),
    always: fc.option(transition, { freq: 1 }),
    after: fc.option(transition, { freq: 1 }),
    onDone: fc.option(transition),
    entry: actions,
    exit: actions,
    invoke: fc.option(invoke(generation), { freq: 1 }),
  });
}

function invoke(generation: number): fc.Arbitrary<InvokeSpec> {
  const promise = fc.record({
    kind: fc.constant("promise" as const),
    onDone: transition,
    onError: transition,
  });
  if (generation === MAX_GENERATIONS) return promise;
  const machine = fc.record({
    kind: fc.constant("machine" as const),
    chart: chart(generation + 1),
    onDone: transition,
  });
  return fc.oneof({ weight: 3, arbitrary: promise }, { weight: 1, arbitrary: machine });
}

/** The root has at least one state. */
function chart(generation: number): fc.Arbitrary<StateSpec> {
  const states = fc.array(state(generation, generation), { minLength: 1, maxLength: 4 });
  return fc.tuple(state(MAX_DEPTH, generation), states, fc.boolean()).map(([root, inner, isParallel]) => ({
    ...root,
    type: isParallel ? "parallel" : "plain",
    states: inner,
    invoke: null,
    after: null,
    always: null,
    onDone: null,
  }));
}

export const charts: fc.Arbitrary<StateSpec> = chart(1);

export const happenings: fc.Arbitrary<readonly HappeningSpec[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("send" as const), event: number }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("settle" as const), which: number, isGood: fc.boolean() }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("time" as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("half" as const) }) },
  ),
  { maxLength: 10 },
);
