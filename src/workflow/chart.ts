/** The port to a statechart library: a chart as a pure function. The same snapshot and event give the same step; nothing runs. */
import type { EventObject } from "xstate";
import type { TaskRecord } from "../../storage/storage.ts";
import type { ActorAddress, ActorTable } from "./actor-address.ts";
import { ADDED_ROWS, type AddedFields } from "./added-fields.ts";
import { storableThrown } from "./values.ts";
import type { Writable } from "./writable.ts";

/** The parent of a child machine, as the child remembers it. */
export interface ParentLink {
  readonly instance: string;
  /** The chart and version that the parent was started with, as `name@version`. */
  readonly workflow: string;
  /** The id of the child within its parent. */
  readonly id: string;
  /** Counts the children that the parent has started under this id; the first is 1. */
  readonly run: number;
  /** The life of the parent, which messages to the parent name. Absent in snapshots from before stamps. */
  readonly life?: string;
}

/** A child actor of an instance, as long as its parent has not stopped it. */
export interface ChildLink {
  /** The name under which its logic is registered. */
  readonly src: string;
  /** Machines only: counts those started under this id; the first is 1. Absent for a promise. */
  readonly run?: number;
  /** True where an action has started it, and not the state that invokes it: it does not end with the state. */
  readonly isSpawned?: true;
  readonly systemId?: string;
  /** Machines only: the child has ended, and a parent that ends stops it no more. */
  readonly hasEnded?: true;
  /** Its life, where the parent holds its address or has handed it out; empty where it was gone by then. */
  readonly life?: string;
}

/** A child machine that no longer has its id, and whose end is still told: another has the id, or it had ended when it was stopped. */
export interface FormerChild extends Pick<ChildLink, "src" | "hasEnded" | "life"> {
  readonly id: string;
  readonly run: number;
}

/** `parent/id`, or `parent/id~2` for the second one that is started under this id, as when its state is entered again. */
export function childInstance(parent: string, id: string, run: number): string {
  return run === 1 ? `${parent}/${id}` : `${parent}/${id}~${run}`;
}

/** A child machine that a step starts. */
export interface StartedChild extends Pick<ChildLink, "src" | "life"> {
  readonly id: string;
  readonly run: number;
  readonly input: unknown;
}

/** A child that begins in a later commit than the step that starts the child, with the messages that the step has sent to it. */
export interface UnbornChild extends StartedChild {
  readonly told?: readonly TaskRecord[];
}

/** The stored state of a running chart. Absent fields are not stored. */
export interface ChartSnapshot extends AddedFields {
  readonly value: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  /** `stopped`: ended by its parent, or by a command. `error`: an error that the chart did not handle ended it. */
  readonly status: "active" | "done" | "stopped" | "error";
  /** The output of a chart that is done and declares one. */
  readonly output?: unknown;
  /** The error of a chart that ended with an error. */
  readonly error?: unknown;
  /** @internal Ids of the states to return to, by the id of a history state. */
  readonly history?: Readonly<Record<string, readonly string[]>>;
  readonly children?: Readonly<Record<string, ChildLink>>;
  /** @internal In the order in which they lost their ids. */
  readonly former?: readonly FormerChild[];
  /** @internal The number of machines started so far, by child id. */
  readonly runs?: Readonly<Record<string, number>>;
  readonly parent?: ParentLink;
  /** @internal Large contexts for effects of earlier steps, as JSON, by step. */
  readonly lent?: Readonly<Record<string, unknown>>;
  /** @internal Children of the last step that did not fit into one commit. No event is taken before they have begun. */
  readonly unborn?: readonly UnbornChild[];
}

/** Something a step wants done: the named action with its params, not yet carried out. */
export interface PlannedEffect {
  readonly name: string;
  readonly params: unknown;
}

/** The context and event that an action saw. */
export interface ActionScope {
  readonly context: unknown;
  readonly event: EventObject;
}

/** The target of an event. A child without a link never ran, or has ended. */
export type EventAddress =
  | "self"
  | "parent"
  | { readonly child: string; readonly link?: ChildLink }
  | { readonly actor: ActorAddress };

/** An action that a step asks for; actions keep the chart's order. */
export type ChartAction =
  | { readonly kind: "effect"; readonly effect: PlannedEffect; readonly scope: ActionScope }
  | {
      readonly kind: "arm";
      /** Null for a delayed event without an id: nothing can cancel it. */
      readonly timer: string | null;
      readonly delayMs: number;
      readonly event: EventObject;
      readonly to: EventAddress;
    }
  | { readonly kind: "disarm"; readonly timer: string }
  /** Starts a promise, or a machine when `run` is given. */
  | {
      readonly kind: "startChild";
      readonly id: string;
      readonly src: string;
      readonly input: unknown;
      readonly run?: number | undefined;
    }
  | {
      readonly kind: "stopChild";
      readonly id: string;
      readonly src: string;
      readonly run?: number | undefined;
    }
  | { readonly kind: "send"; readonly to: EventAddress; readonly event: EventObject }
  | Voice;

/** A log line, or an emitted event. */
export type Voice =
  | { readonly kind: "log"; readonly label: string | undefined; readonly value: unknown }
  | { readonly kind: "emit"; readonly event: EventObject };

/** The result of one event. */
export interface ChartStep {
  readonly after: ChartSnapshot;
  /** The meta of each active state, outer ones first: of those before, null for the first step; and of those after. */
  readonly metasBefore: readonly StateMeta[] | null;
  readonly metasAfter: readonly StateMeta[];
  readonly actions: readonly ChartAction[];
}

/** The `meta` of a state, as its chart has it. */
export interface StateMeta {
  readonly [field: string]: unknown;
}

/** An instance that comes from another version of its chart. */
export interface Arrival {
  /** The snapshot as the other version left it. Children keep the ids of this chart. */
  readonly before: ChartSnapshot;
  readonly value: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  /** The names of the timers that run. */
  readonly timers: readonly string[];
  readonly actor: StepActor;
}

/** The first step under the new version: its actions start what the new states ask for, and stop all other work. */
export interface ArrivalStep extends ChartStep {
  /** The children that go on, by their ids. */
  readonly kept: Readonly<Record<string, ChildLink>>;
}

/** A part of the old snapshot that the new version of the chart cannot continue. */
export class ArrivalError extends Error {
  override readonly name = "ArrivalError";
  /** The path in the snapshot, such as `value.paying`. */
  readonly path: string;

  constructor(path: string, reason: string) {
    super(reason);
    this.path = path;
  }
}

/** The instance that makes a step, as its chart is told of it: addresses of it and of its children are made of this. */
export interface StepActor {
  readonly instance: string;
  readonly life: string;
  /** The life of children that the step begins. */
  readonly stamp: string;
  readonly workflow: NamedWorkflow;
  /** The addresses in the commit so far. Absent where the step is the only one. */
  readonly table?: ActorTable;
  /** Whether `LifeUnknown` is thrown where a child may be one whose address the step was given. Not where a step is made again. */
  readonly asks?: boolean;
}

/** A workflow by its name, with those of its child machines. */
interface NamedWorkflow {
  readonly name: string;
  child(src: string): NamedWorkflow;
}

/** The lives of children, by their ids, that a step was planned again for: `true` for one that begins in it. */
export type KnownLives = Readonly<Record<string, string | true>>;

export interface FirstStep {
  readonly parent?: ParentLink | undefined;
  /** Where its children are not the first of their ids. */
  readonly runs?: ChartSnapshot["runs"];
  readonly lives?: KnownLives | undefined;
}

export interface LaterStep {
  readonly actor?: StepActor;
  /** Nobody else has `before`: its list of children is changed in place, and what it holds is lost when an error is thrown. */
  readonly isOwn?: boolean;
}

/** The machine behind a pure face. A step without an actor is made for nobody: addresses in it lead nowhere. */
export interface Chart {
  /** The first step of a run. Throws what the context function throws. */
  readonly start: (input: unknown, first?: FirstStep, actor?: StepActor) => ChartStep;
  /** The next step, or null when the event changes nothing and asks for nothing. Throws what a guard throws. */
  readonly step: (before: ChartSnapshot, event: EventObject, later?: LaterStep) => ChartStep | null;
  /** Takes over a run of another version. No entry action runs. Throws `ArrivalError`, or what the chart throws. */
  readonly arrive: (arrival: Arrival) => ArrivalStep;
}

/** The event that ends an instance with everything it has begun, without its exit actions. */
export const STOP: EventObject = { type: "xstate.stop" };

/** The event by which failing tasks and dead letters of an instance are retried. The engine takes it; no chart sees it. */
export const RETRY: EventObject = { type: "$retry" };

/** The type of the event in the history of an instance that has moved to another version of its chart. */
export const MIGRATED = "$migrated";

/** The type of the event, and the name of the timer, by which children begin that one commit had no room for. */
export const BORN = "$born";

/** Whether a row of the history needs no cause: a migration tells its own, the others come of the step before. */
export const isOwnRow = (type: string): boolean => [MIGRATED, BORN, ...ADDED_ROWS].includes(type);

/** The last event that a child's parent hears of it. */
export interface ChildEndEvent extends EventObject {
  readonly actorId: string;
  readonly output?: unknown;
  readonly error?: unknown;
  /** The run of a child machine, since several may share the id; a promise is known by the token of its task. */
  readonly $run?: number;
}

/** The event that reports a child's result to its parent. Only machines have a `run`. */
export function childDone(id: string, output: unknown, run?: number): ChildEndEvent {
  const end = childEnd("done", id, run);
  if (output !== undefined) end.output = output;
  return end;
}

/** The event that reports a child's failure to its parent. Only machines have a `run`. */
export function childFailed(id: string, error: unknown, run?: number): ChildEndEvent {
  const end = childEnd("error", id, run);
  if (error !== undefined) end.error = storableThrown(error);
  return end;
}

function childEnd(how: "done" | "error", id: string, run: number | undefined): Writable<ChildEndEvent> {
  const end: Writable<ChildEndEvent> = { type: `xstate.${how}.actor.${id}`, actorId: id };
  if (run !== undefined) end.$run = run;
  return end;
}
