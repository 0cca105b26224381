/**
 * A chart as a pure function: the same snapshot and event always give the same step, and nothing runs.
 *
 * XState's own `transition()` builds an actor for every call. Handing the machine one inert scope instead gives the
 * same steps three times as fast; an oracle test compares the two. All knowledge of XState's inside stays in this file.
 */
import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from "xstate";

/** What is stored of a running chart. It survives JSON: contexts hold no bytes, functions, dates or bigints. */
export interface ChartSnapshot {
  readonly value: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  readonly status: "active" | "done";
}

/** Something a step wants done: the named action with its params, not yet carried out. */
export interface PlannedEffect {
  readonly name: string;
  readonly params: unknown;
}

/** One thing a step asks for, in the order in which the chart lists it. */
export type ChartAction =
  | { readonly kind: "effect"; readonly effect: PlannedEffect }
  | { readonly kind: "arm"; readonly timer: string; readonly delayMs: number; readonly event: EventObject }
  | { readonly kind: "disarm"; readonly timer: string };

/** What follows from one event. */
export interface ChartStep {
  readonly after: ChartSnapshot;
  /** The meta of the states before, null for the first step; and of those after. */
  readonly metaBefore: StateMeta | null;
  readonly metaAfter: StateMeta;
  readonly actions: readonly ChartAction[];
}

/** The meta of all active states, inner ones winning; `watches` are collected from all of them. */
export interface StateMeta {
  readonly watches: readonly string[];
  readonly [field: string]: unknown;
}

/** The machine behind a pure face. */
export interface Chart {
  /** The first step of a new run. Throws what the chart's own context function throws. */
  readonly start: (input: unknown) => ChartStep;
  /** The next step, or null when the event changes nothing and asks for nothing. Throws what a guard throws. */
  readonly step: (before: ChartSnapshot, event: EventObject) => ChartStep | null;
}

// A chart that raises or chooses `always` in a circle would spin for ever; no honest chart comes near this.
const MOST_MICROSTEPS = 100;

// Which states a value stands for is looked up once; parallel states could multiply to more values than are worth it.
const MOST_RESOLVED = 1_000;

interface EmittedAction {
  readonly type: string;
  readonly params: unknown;
}

/** Opens a machine that has passed `checkChartShape`. */
export function openChart(machine: AnyStateMachine): Chart {
  machine.options.maxIterations = MOST_MICROSTEPS;

  // Snapshots are of this machine and of no actor: the scope exists because the signature asks for it, and it only
  // collects. A fresh one per step keeps steps apart.
  const inertScope = (emitted: EmittedAction[]): never =>
    ({
      self: {},
      system: { _sendInspectionEvent: nothing, _snapshot: { _scheduledEvents: {} } },
      id: "",
      sessionId: "",
      logger: nothing,
      defer: nothing,
      stopChild: nothing,
      emit: nothing,
      actionExecutor: (action: EmittedAction) => emitted.push(action),
    }) as never;

  const chartStep = (
    before: AnyMachineSnapshot | null,
    snapshot: AnyMachineSnapshot,
    emitted: readonly EmittedAction[],
  ): ChartStep => {
    if (snapshot.status === "error") throw snapshot.error;
    return {
      after: {
        value: snapshot.value,
        context: snapshot.context as ChartSnapshot["context"],
        status: snapshot.status === "done" ? "done" : "active",
      },
      metaBefore: before === null ? null : mergedMeta(before),
      metaAfter: mergedMeta(snapshot),
      actions: emitted.flatMap(chartAction),
    };
  };

  const resolved = new Map<string, AnyMachineSnapshot>();
  const restore = ({ value, context }: ChartSnapshot): AnyMachineSnapshot => {
    const key = typeof value === "string" ? value : JSON.stringify(value);
    const known = resolved.get(key) ?? machine.resolveState({ value: value as never, context: {} });
    if (resolved.size < MOST_RESOLVED) resolved.set(key, known);
    return { ...known, context } as AnyMachineSnapshot;
  };

  return {
    start(input) {
      const emitted: EmittedAction[] = [];
      return chartStep(null, machine.getInitialSnapshot(inertScope(emitted), input), emitted);
    },
    step(before, event) {
      if (before.status === "done") return null; // XState would still take events of the root
      const emitted: EmittedAction[] = [];
      const restored = restore(before);
      const next = machine.transition(restored, event, inertScope(emitted)) as AnyMachineSnapshot;
      return next === restored && emitted.length === 0 ? null : chartStep(restored, next, emitted);
    },
  };
}

function nothing(): void {}

function chartAction({ type, params }: EmittedAction): ChartAction[] {
  if (type === "xstate.raise") {
    const { id, delay, event } = params as { id: string; delay?: number; event: EventObject };
    // A delay of 0 is a timer; an undefined one is an event the chart has already worked off in this step.
    return delay === undefined ? [] : [{ kind: "arm", timer: id, delayMs: delay, event }];
  }
  if (type === "xstate.cancel") {
    return [{ kind: "disarm", timer: (params as { sendId: string }).sendId }];
  }
  return [{ kind: "effect", effect: { name: type, params } }];
}

function mergedMeta(snapshot: AnyMachineSnapshot): StateMeta {
  const metas = Object.values(
    snapshot.getMeta() as Record<string, { watches?: readonly string[] } | undefined>,
  );
  const watches = metas.flatMap((meta) => meta?.watches ?? []);
  return Object.assign({}, ...metas, { watches }) as StateMeta;
}
