/**
 * The ports `ChartSourceReader` and `Chart` for XState 5.
 *
 * XState's own `transition()` builds an actor for every call. Handing the machine one inert scope instead gives the
 * same steps three times as fast; an oracle test compares the two. All knowledge of XState's inside stays in this folder.
 */
import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from "xstate";
import type { ChartSourceReader } from "../chart-interpreter.ts";
import {
  BORN,
  ArrivalError,
  STOP,
  type Arrival,
  type ArrivalStep,
  type Chart,
  type ChartSnapshot,
  type ChartStep,
  type ChildEndEvent,
  type ChildLink,
  type ParentLink,
  type StateMeta,
} from "../chart.ts";
import { ArrivalActionList, checkValue, type Node } from "./arrive.ts";
import { readChartShape, type StepChartParts } from "./chart-shape.ts";
import { chartText } from "./chart-text.ts";
import { InertActor, inertChildren, InertSystem } from "./inert-actors.ts";
import { ownMachine } from "./own-machine.ts";
import {
  NO_CHILDREN,
  SESSION_PREFIX,
  StepActionList,
  UNNAMED,
  type ChildEndContext,
  type EmittedAction,
  type StepScope,
} from "./step-actions.ts";

// Which states a value stands for is looked up once; parallel states could multiply to more values than are worth it.
const MAX_RESOLVED = 1_000;

export const xstate5: ChartSourceReader<AnyStateMachine> = {
  read(machine) {
    const shape = readChartShape(machine);
    return { parts: shape, text: () => chartText(machine), open: () => openChart(machine, shape) };
  },
};

/** Opens a machine whose shape has no faults. */
export function openChart(machine: AnyStateMachine, shape: StepChartParts = readChartShape(machine)): Chart {
  return new XStateChart(machine, shape);
}

interface Scope extends StepScope {
  readonly emitted: EmittedAction[];
  readonly actors: Record<string, InertActor>;
  /** The scope, in XState's form. */
  readonly inert: never;
  readonly run: Run;
}

interface Stepping extends Required<Pick<ChildEndContext, "absent">> {
  readonly isOwn: boolean;
}

/** The parts of the run that a step needs besides the state, and never changes. */
type Run = {
  readonly [K in "runs" | "children" | "parent" | "lent" | "unborn" | "folded"]?:
    ChartSnapshot[K] | undefined;
};

const FIRST: Stepping = { isOwn: false, absent: [] };

class XStateChart implements Chart {
  readonly #machine: AnyStateMachine;
  readonly #shape: StepChartParts;
  readonly #resolved = new Map<string, AnyMachineSnapshot>();

  constructor(machine: AnyStateMachine, shape: StepChartParts) {
    this.#machine = ownMachine(machine);
    this.#shape = shape;
  }

  start(input: unknown, parent?: ParentLink, runs: ChartSnapshot["runs"] = {}): ChartStep {
    const scope = this.#scope({ runs, parent });
    const snapshot = this.#machine.getInitialSnapshot(scope.inert, input) as AnyMachineSnapshot;
    return this.#chartStep(null, snapshot, scope);
  }

  step(before: ChartSnapshot, event: EventObject, isOwn = false): ChartStep | null {
    if (before.status !== "active") return null; // XState would still take events of the root
    if (event.type === BORN) return bearing(before, event as EngineFields);
    if ("$error" in event) return this.#failed(before, event["$error"]);
    const seen = withoutRun(event, before);
    if (seen === null) return null;
    const { $runs: runs } = event as EngineFields;
    const present = runs === undefined ? before : { ...before, runs: { ...before.runs, ...runs } };
    return this.#stepped(present, seen, { isOwn, absent: [] });
  }

  /** Ends the instance with an error, and stops its children, as a stop does. */
  #failed(before: ChartSnapshot, error: unknown): ChartStep | null {
    const stopped = this.step(before, STOP);
    return stopped && { ...stopped, after: { ...stopped.after, status: "error", error } };
  }

  #stepped(before: ChartSnapshot, seen: EventObject, stepping: Stepping): ChartStep | null {
    const { absent } = stepping;
    const ended = CHILD_END.test(seen.type) ? (seen as ChildEndEvent).actorId : undefined;
    const scope = this.#scope(before, { ...stepping, ended });
    const restored = this.#restore(before, scope.actors);
    for (const id of absent) scope.actors[id] = new InertActor(id, scope.self.system);
    let snapshot: AnyMachineSnapshot;
    try {
      snapshot = this.#machine.transition(restored, seen, scope.inert) as AnyMachineSnapshot;
    } catch (error) {
      const id = this.#shape.spawns ? unsentTo(error) : undefined;
      if (id === undefined || absent.includes(id)) throw error;
      return this.#stepped(before, seen, { ...stepping, absent: [...absent, id] });
    }
    // The end of a spawned child is a step also where the chart has nothing to do with it: the child leaves the snapshot.
    const hasLeft = ended !== undefined && before.children?.[ended]?.isSpawned === true;
    if (snapshot === restored && scope.emitted.length === 0 && !hasLeft) return null;
    return this.#chartStep(restored, snapshot, scope);
  }

  arrive(arrival: Arrival): ArrivalStep {
    const { value, context, before } = arrival;
    checkValue(this.#machine.root as unknown as Node, value);
    const scope = this.#scope({ runs: before.runs, parent: before.parent });
    const resolved = this.#machine.resolveState({ value: value as never, context });
    if (resolved.status !== "active") {
      throw new ArrivalError("value", "it is final: migrate to a state that leads there");
    }
    const history = this.#restoredHistory(before.history);
    const snapshot = { ...resolved, historyValue: history } as unknown as AnyMachineSnapshot;
    const chart = { machine: this.#machine, shape: this.#shape };
    const { actions, kept, children, runs } = new ArrivalActionList(
      chart,
      { snapshot, self: scope.self },
      arrival,
    );
    const unborn = before.unborn?.filter((child) => kept[child.id]?.run === child.run);
    return {
      after: stored(snapshot, { ...scope, runs, run: { ...before, unborn } }, children),
      metaBefore: null,
      metaAfter: mergedMeta(snapshot),
      actions,
      kept,
    };
  }

  // Snapshots are of this machine and of no actor: the scope exists because the signature asks for it, and it only
  // collects. A fresh one per step keeps steps apart.
  #scope(run: Run, { isOwn, ended, absent }: Stepping & ChildEndContext = FIRST): Scope {
    const { runs: before = {}, parent, children = NO_CHILDREN } = run;
    const emitted: EmittedAction[] = [];
    const runs = isOwn ? before : { ...before };
    let booked = runs[UNNAMED] ?? 0;
    const system: InertSystem = new InertSystem(
      () => `${SESSION_PREFIX}${(booked += 1)}`,
      (systemId) => actors[Object.keys(children).find((id) => children[id]?.systemId === systemId) ?? ""],
    );
    const above = parent === undefined ? undefined : new InertActor(parent.instance, system);
    const self = new InertActor(parent?.id ?? "self", system, { parent: above });
    const actors = children === NO_CHILDREN ? {} : inertChildren(children, self);
    const inert = {
      self,
      system,
      id: self.id,
      sessionId: self.id,
      logger: nothing,
      defer: nothing,
      stopChild: nothing,
      emit: nothing,
      actionExecutor: (action: EmittedAction) => emitted.push(action),
    } as never;
    return { self, parent: above, emitted, run, runs, actors, inert, isOwn, ended, absent };
  }

  #chartStep(before: AnyMachineSnapshot | null, snapshot: AnyMachineSnapshot, scope: Scope): ChartStep {
    if (snapshot.status === "error") throw snapshot.error;
    const collected = new StepActionList(this.#shape, scope, scope.run.children ?? NO_CHILDREN);
    for (const action of scope.emitted) collected.add(action);
    const left = collected.children(snapshot.children as Readonly<Record<string, unknown>>);
    return {
      after: stored(snapshot, scope, left),
      metaBefore: before === null ? null : mergedMeta(before),
      metaAfter: mergedMeta(snapshot),
      actions: collected.actions,
    };
  }

  #restore({ value, context, history }: ChartSnapshot, actors: Scope["actors"]): AnyMachineSnapshot {
    const key = typeof value === "string" ? value : JSON.stringify(value);
    const known =
      this.#resolved.get(key) ?? this.#machine.resolveState({ value: value as never, context: {} });
    if (this.#resolved.size < MAX_RESOLVED) this.#resolved.set(key, known);
    return {
      ...known,
      context,
      children: actors,
      historyValue: this.#restoredHistory(history),
    } as unknown as AnyMachineSnapshot;
  }

  /** Without the states that this version of the chart does not have. */
  #restoredHistory(history: ChartSnapshot["history"]): Record<string, unknown[]> {
    const { idMap } = this.#machine as unknown as { readonly idMap: ReadonlyMap<string, unknown> };
    const nodes: Record<string, unknown[]> = {};
    for (const [id, states] of Object.entries(history ?? {})) {
      const isKnown = idMap.has(id) && states.every((state) => idMap.has(state));
      if (isKnown) nodes[id] = states.map((state) => idMap.get(state));
    }
    return nodes;
  }
}

const CHILD_END = /^xstate\.(done|error)\.actor\./;
const UNSENT = /^Unable to send event to actor '(.*)' from machine '/s;

/** The id of the child that XState found missing. XState remembers children that have ended; a snapshot does not. */
function unsentTo(error: unknown): string | undefined {
  return error instanceof Error ? UNSENT.exec(error.message)?.[1] : undefined;
}

/** Everything of a snapshot that has to be kept; what is empty is left out. */
function stored(
  snapshot: AnyMachineSnapshot,
  { runs, isOwn, run: { parent, lent, unborn, folded } }: Scope,
  children: Readonly<Record<string, ChildLink>>,
): ChartSnapshot {
  const { value, context, status, output, historyValue } = snapshot as unknown as ChartSnapshot & {
    readonly historyValue: HistoryValue;
  };
  const history = storedHistory(historyValue);
  const isActive = status === "active";
  return {
    value,
    context,
    status,
    ...(output === undefined ? {} : { output }),
    ...(isActive && isFilled(history) ? { history } : {}),
    // To look whether there is one in a list of thousands takes longer than the step; who owns it does so once.
    ...(isActive && (isOwn || isFilled(children)) ? { children } : {}),
    ...(isActive && (isOwn || isFilled(runs)) ? { runs } : {}),
    ...(parent === undefined ? {} : { parent }),
    ...(lent === undefined ? {} : { lent }),
    ...(unborn === undefined ? {} : { unborn }),
    ...(folded === undefined ? {} : { folded }),
  };
}

type HistoryValue = Readonly<Record<string, readonly { readonly id: string }[]>>;

function storedHistory(history: HistoryValue): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(history).map(([id, nodes]) => [id, nodes.map((node) => node.id)]));
}

function isFilled(record: object): boolean {
  for (const key in record) if (Object.hasOwn(record, key)) return true;
  return false;
}

/** Fields that the engine adds to the event of a child's end, and to an event after which ids of new children are taken. */
type EngineFields = ChildEndEvent & { readonly $runs?: ChartSnapshot["runs"] };

/** The step in which children begin that were started before: of the chart itself it changes nothing. */
function bearing({ unborn: _, ...before }: ChartSnapshot, { $runs: taken = {} }: EngineFields): ChartStep {
  const links = Object.entries(taken).flatMap(([id, run]) => {
    const link = before.children?.[id];
    return link === undefined ? [] : [[id, { ...link, run: run + 1 }] as const];
  });
  const after = {
    ...before,
    ...(links.length > 0 && {
      children: { ...before.children, ...Object.fromEntries(links) },
      runs: { ...before.runs, ...Object.fromEntries(links.map(([id, { run }]) => [id, run])) },
    }),
  };
  return { after, metaBefore: null, metaAfter: { watches: [] }, actions: [] };
}

/** The event as the chart may see it; null when it is the end of a child that was stopped, and replaced by one of the same id. */
function withoutRun(event: EventObject, { children }: ChartSnapshot): EventObject | null {
  if (!("$run" in event) && !("$runs" in event)) return event;
  const { $run: run, ...seen } = event as EngineFields;
  delete (seen as { $runs?: unknown }).$runs;
  return run === undefined || children?.[seen.actorId]?.run === run ? seen : null;
}

function mergedMeta(snapshot: AnyMachineSnapshot): StateMeta {
  const metas = Object.values(
    snapshot.getMeta() as Record<string, { watches?: readonly string[] } | undefined>,
  );
  const watches = metas.flatMap((meta) => meta?.watches ?? []);
  return Object.assign({}, ...metas, { watches }) as StateMeta;
}

function nothing(): void {}
