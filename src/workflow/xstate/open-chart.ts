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
  type FirstStep,
  type FormerChild,
  type KnownLives,
  type LaterStep,
  type StateMeta,
  type StepActor,
} from "../chart.ts";
import { ActorAddress, withActors } from "../actor-address.ts";
import type { Writable } from "../writable.ts";
import { ArrivalActionList, checkValue, type Node } from "./arrive.ts";
import { readChartShape, type StepChartParts } from "./chart-shape.ts";
import { chartText } from "./chart-text.ts";
import { ownMachine } from "./own-machine.ts";
import {
  StepActionList,
  type ChildEndContext,
  type EmittedAction,
  type KeptChildren,
  type Spawned,
  type StepScope,
} from "./step-actions.ts";
import { NO_CHILDREN, StepFamily } from "./step-family.ts";

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
  /** The scope, in XState's form. */
  readonly inert: never;
  readonly run: Run;
}

interface Stepping extends ChildEndContext {
  readonly isOwn: boolean;
  readonly actor: StepActor | undefined;
  readonly lives?: KnownLives | undefined;
  /** Whether it is a step also where the chart has nothing to do with the event. */
  readonly isNoted: boolean;
}

/** The parts of the run that a step needs besides the state, and never changes. */
type Run = {
  readonly [K in "runs" | "children" | "former" | "parent" | "lent" | "unborn"]?:
    ChartSnapshot[K] | undefined;
};

const NO_FORMER: readonly FormerChild[] = [];

class XStateChart implements Chart {
  readonly #machine: AnyStateMachine;
  readonly #shape: StepChartParts;
  readonly #resolved = new Map<string, AnyMachineSnapshot>();

  constructor(machine: AnyStateMachine, shape: StepChartParts) {
    this.#machine = ownMachine(machine);
    this.#shape = shape;
  }

  start(input: unknown, { parent, runs = {}, lives }: FirstStep = {}, actor?: StepActor): ChartStep {
    const scope = this.#scope({ runs, parent }, { ...FIRST, actor, lives });
    const snapshot = withActors(
      scope.family,
      () => this.#machine.getInitialSnapshot(scope.inert, input) as AnyMachineSnapshot,
    );
    if (scope.family.unknown !== undefined) throw scope.family.unknown;
    return this.#chartStep(null, snapshot, scope);
  }

  step(
    before: ChartSnapshot,
    event: EventObject,
    { actor, isOwn = false }: LaterStep = {},
  ): ChartStep | null {
    if (before.status !== "active") return null; // XState would still take events of the root
    if (event.type === BORN) return bearing(before, event as EngineFields);
    if ("$error" in event) return this.#failed(before, event["$error"], actor);
    const { $run: run, $runs: runs, $ended: left, $lives: lives, actorId } = event as EngineFields;
    let present = runs === undefined ? before : { ...before, runs: { ...before.runs, ...runs } };
    if (lives !== undefined) present = withLives(present, lives);
    const link = CHILD_END.test(event.type) ? before.children?.[actorId] : undefined;
    const ended = link?.run === run ? actorId : undefined;
    if (run !== undefined && ended === undefined) {
      const { former = NO_FORMER } = before;
      const others = former.filter((each) => each.id !== actorId || each.run !== run);
      // It was stopped before it ended.
      if (others.length === former.length) return null;
      present = { ...present, former: others };
    }
    // The snapshot says which children have ended.
    const isNoted = run !== undefined || link?.isSpawned === true;
    const stepping = { actor, isOwn, isNoted, absent: [], ended, left, lives };
    return this.#stepped(present, withoutFields(event), stepping);
  }

  /** Ends the instance with an error, and stops its children, as a stop does. */
  #failed(before: ChartSnapshot, error: unknown, actor: StepActor | undefined): ChartStep | null {
    const stopped = this.step(before, STOP, actor && { actor });
    return stopped && { ...stopped, after: { ...stopped.after, status: "error", error } };
  }

  #stepped(before: ChartSnapshot, seen: EventObject, stepping: Stepping): ChartStep | null {
    const { absent, isNoted } = stepping;
    const scope = this.#scope(before, stepping);
    const { family } = scope;
    const restored = this.#restore(before, family.children);
    family.present = restored;
    family.event = seen;
    for (const id of absent) family.addEnded(id);
    let snapshot: AnyMachineSnapshot;
    try {
      snapshot = withActors(
        family,
        () => this.#machine.transition(restored, seen, scope.inert) as AnyMachineSnapshot,
      );
    } catch (error) {
      const { unknown } = family;
      if (unknown !== undefined) throw unknown;
      const id = this.#shape.spawns ? unsentTo(error) : undefined;
      if (id === undefined || absent.includes(id)) throw error;
      return this.#stepped(before, seen, { ...stepping, absent: [...absent, id] });
    }
    if (family.unknown !== undefined) throw family.unknown;
    if (snapshot === restored && scope.emitted.length === 0 && !isNoted) return null;
    return this.#chartStep(restored, snapshot, scope);
  }

  arrive(arrival: Arrival): ArrivalStep {
    const { value, context, before, actor } = arrival;
    checkValue(this.#machine.root as unknown as Node, value);
    const scope = this.#scope({ runs: before.runs, parent: before.parent }, { ...FIRST, actor });
    const resolved = this.#machine.resolveState({ value: value as never, context });
    if (resolved.status !== "active") {
      throw new ArrivalError("value", "it is final: migrate to a state that leads there");
    }
    const history = this.#restoredHistory(before.history);
    const snapshot = { ...resolved, historyValue: history } as unknown as AnyMachineSnapshot;
    const chart = { machine: this.#machine, shape: this.#shape };
    const { actions, kept, children, former, runs } = withActors(
      scope.family,
      () => new ArrivalActionList(chart, { snapshot, family: scope.family }, arrival),
    );
    const isLeft = ({ id, run }: FormerChild): boolean =>
      kept[id]?.run === run || former.some((each) => each.id === id && each.run === run);
    const unborn = before.unborn?.filter(isLeft);
    return {
      after: stored(snapshot, { ...scope, runs, run: { ...before, unborn } }, { children, former }),
      metasBefore: null,
      metasAfter: metasOf(snapshot),
      actions,
      kept,
    };
  }

  // Snapshots are of this machine and of no actor: the scope exists because the signature asks for it, and it only
  // collects. A fresh one per step keeps steps apart.
  #scope(run: Run, { actor, lives, isOwn, ended, left, absent }: Stepping): Scope {
    const { runs: before = {}, parent, children = NO_CHILDREN } = run;
    const emitted: EmittedAction[] = [];
    const runs = isOwn ? before : { ...before };
    const family = new StepFamily({ shape: this.#shape, actor, parent, children, runs, lives });
    const { self, system } = family;
    const inert = {
      self,
      system,
      family,
      id: this.#machine.id,
      sessionId: this.#machine.id,
      logger: nothing,
      defer: nothing,
      stopChild: nothing,
      emit: nothing,
      actionExecutor(action: EmittedAction) {
        if (action.type === "xstate.spawnChild") noteInvoked(family, action.params as Spawned);
        emitted.push(action);
      },
    } as never;
    return { family, emitted, run, runs, inert, isOwn, ended, left, absent };
  }

  #chartStep(before: AnyMachineSnapshot | null, snapshot: AnyMachineSnapshot, scope: Scope): ChartStep {
    if (snapshot.status === "error") throw snapshot.error;
    const { children = NO_CHILDREN, former = NO_FORMER } = scope.run;
    const collected = new StepActionList(this.#shape, scope, { children, former });
    for (const action of scope.emitted) collected.add(action);
    const kept = collected.kept(snapshot);
    return {
      after: stored(snapshot, scope, kept),
      metasBefore: before === null ? null : metasOf(before),
      metasAfter: metasOf(snapshot),
      actions: collected.actions,
    };
  }

  #restore({ value, context, history }: ChartSnapshot, children: StepFamily["children"]): AnyMachineSnapshot {
    const key = typeof value === "string" ? value : JSON.stringify(value);
    const known =
      this.#resolved.get(key) ?? this.#machine.resolveState({ value: value as never, context: {} });
    if (this.#resolved.size < MAX_RESOLVED) this.#resolved.set(key, known);
    return {
      ...known,
      context,
      children,
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
  { runs, isOwn, run: { parent, lent, unborn } }: Scope,
  { children, former }: KeptChildren,
): ChartSnapshot {
  const { value, context, status, output, historyValue } = snapshot as unknown as ChartSnapshot & {
    readonly historyValue: HistoryValue;
  };
  const history = storedHistory(historyValue);
  const isActive = status === "active";
  const kept: Writable<ChartSnapshot> = { value, context, status };
  if (output !== undefined) kept.output = output;
  if (isActive && isFilled(history)) kept.history = history;
  // To look whether there is one in a list of thousands takes longer than the step; who owns it does so once.
  if (isActive && (isOwn || isFilled(children))) kept.children = children;
  if (isActive && former.length > 0) kept.former = former;
  if (isActive && (isOwn || isFilled(runs))) kept.runs = runs;
  if (parent !== undefined) kept.parent = parent;
  if (lent !== undefined) kept.lent = lent;
  if (unborn !== undefined) kept.unborn = unborn;
  return kept;
}

type HistoryValue = Readonly<Record<string, readonly { readonly id: string }[]>>;

function storedHistory(history: HistoryValue): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(history).map(([id, nodes]) => [id, nodes.map((node) => node.id)]));
}

function isFilled(record: object): boolean {
  for (const key in record) if (Object.hasOwn(record, key)) return true;
  return false;
}

/**
 * Fields that the engine adds: to the event of a child's end, to an event after which ids of new children are taken, to one
 * that stops children that have ended, and to one whose step asks for addresses of children.
 */
type EngineFields = ChildEndEvent & {
  readonly $runs?: ChartSnapshot["runs"];
  readonly $ended?: Readonly<Record<string, number>>;
  readonly $lives?: KnownLives;
};

const FIRST: Stepping = { actor: undefined, isOwn: false, isNoted: false, absent: [] };

/** XState makes the actor of an invocation itself. */
function noteInvoked(family: StepFamily, { actorRef, src, systemId }: Spawned): void {
  if (actorRef === undefined || actorRef instanceof ActorAddress) return;
  family.begins(actorRef, { id: actorRef.id, src, systemId });
}

/** The snapshot with the lives of children that the step needs to know. */
function withLives(before: ChartSnapshot, lives: KnownLives): ChartSnapshot {
  const children = { ...before.children };
  for (const [id, life] of Object.entries(lives)) {
    const link = children[id];
    if (life !== true && link !== undefined) children[id] = { ...link, life };
  }
  return { ...before, children };
}

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
  return { after, metasBefore: null, metasAfter: [], actions: [] };
}

/** The event as the chart may see it. */
function withoutFields(event: EventObject): EventObject {
  const isPlain = !("$run" in event) && !("$runs" in event) && !("$ended" in event) && !("$lives" in event);
  return isPlain ? event : fieldsOfChart(event as EngineFields);
}

function fieldsOfChart({
  $run: _,
  $runs: __,
  $ended: ___,
  $lives: ____,
  ...seen
}: EngineFields): EventObject {
  return seen;
}

const metasOf = (snapshot: AnyMachineSnapshot): readonly StateMeta[] =>
  Object.values(snapshot.getMeta() as Record<string, StateMeta>);

function nothing(): void {}
