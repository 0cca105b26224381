/** The port to a statechart library: a chart as a pure function. The same snapshot and event give the same step; nothing runs. */
import type { EventObject } from "xstate";
import type { TaskRecord } from "../../storage/storage.ts";
import { storableThrown } from "./values.ts";

/** The parent of a child machine, as the child remembers it. */
export interface ParentLink {
  readonly instance: string;
  /** Which chart and version the parent was started with, as `name@version`. */
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
}

/** A child machine that a step starts. */
export interface StartedChild extends Pick<ChildLink, "src"> {
  readonly id: string;
  readonly run: number;
  readonly input: unknown;
}

/** One that begins in a later commit than its step, with the messages that the step has sent to it. */
export interface UnbornChild extends StartedChild {
  readonly told?: readonly TaskRecord[];
}

/** What is stored of a running chart. Absent fields are not stored. */
export interface ChartSnapshot {
  readonly value: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  /** `stopped`: ended by its parent, or by a command. `error`: an error that the chart did not handle ended it. */
  readonly status: "active" | "done" | "stopped" | "error";
  /** Of a chart that is done and declares one. */
  readonly output?: unknown;
  /** Of a chart that ended with an error. */
  readonly error?: unknown;
  /** By the id of a history state: the ids of the states to return to. */
  readonly history?: Readonly<Record<string, readonly string[]>>;
  readonly children?: Readonly<Record<string, ChildLink>>;
  /** By child id: how many machines were started under it. */
  readonly runs?: Readonly<Record<string, number>>;
  readonly parent?: ParentLink;
  /** By step: large contexts that effects of earlier steps are still to be called with, as JSON. */
  readonly lent?: Readonly<Record<string, unknown>>;
  /** Children of its last step that one commit had no room for. No event is taken before they have begun. */
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

/** Whom a chart sends an event to: itself, its parent, or the child of this id; without a link there is none, or none any more. */
export type EventAddress = "self" | "parent" | { readonly child: string; readonly link?: ChildLink };

/** One thing a step asks for, in the order in which the chart lists it. */
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
      readonly run?: number;
    }
  | { readonly kind: "stopChild"; readonly id: string; readonly src: string; readonly run?: number }
  | { readonly kind: "send"; readonly to: EventAddress; readonly event: EventObject }
  | { readonly kind: "log"; readonly label: string | undefined; readonly value: unknown }
  | { readonly kind: "emit"; readonly event: EventObject };

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

/** A run that comes from another version of its chart. */
export interface Arrival {
  /** As the other version left it. Its children have the ids that this chart gives them. */
  readonly before: ChartSnapshot;
  readonly value: unknown;
  readonly context: Readonly<Record<string, unknown>>;
  /** The names of the timers that run. */
  readonly timers: readonly string[];
}

/** The step that a run arrives with. Its actions begin what its states ask for, and end what they do not. */
export interface ArrivalStep extends ChartStep {
  /** The children that go on, by their ids. */
  readonly kept: Readonly<Record<string, ChildLink>>;
}

/** What a run brings along, and this chart cannot go on with. */
export class ArrivalError extends Error {
  override readonly name = "ArrivalError";
  /** Where it stands, such as `value.paying`. */
  readonly path: string;

  constructor(path: string, reason: string) {
    super(reason);
    this.path = path;
  }
}

/** The machine behind a pure face. */
export interface Chart {
  /** The first step of a run; `runs` where its children are not the first of their ids. Throws what the context function throws. */
  readonly start: (input: unknown, parent?: ParentLink, runs?: ChartSnapshot["runs"]) => ChartStep;
  /**
   * The next step, or null when the event changes nothing and asks for nothing. Throws what a guard throws. With `isOwn`
   * nobody else has `before`: its list of children is changed in place, and what it holds is lost when an error is thrown.
   */
  readonly step: (before: ChartSnapshot, event: EventObject, isOwn?: boolean) => ChartStep | null;
  /** Takes over a run of another version. No entry action runs. Throws `ArrivalError`, or what the chart throws. */
  readonly arrive: (arrival: Arrival) => ArrivalStep;
}

/** The event that ends an instance with everything it has begun, without its exit actions. */
export const STOP: EventObject = { type: "xstate.stop" };

/** The type of the event in the history of an instance that has moved to another version of its chart. */
export const MIGRATED = "$migrated";

/** The type of the event, and the name of the timer, by which children begin that one commit had no room for. */
export const BORN = "$born";

/** The last event that a child's parent hears of it. */
export interface ChildEndEvent extends EventObject {
  readonly actorId: string;
  readonly output?: unknown;
  readonly error?: unknown;
  /** Which of several machines with one id it is from; absent for a promise, whose task is known by its token. */
  readonly $run?: number;
}

/** The event that tells a parent that its child is done. `run` is given for machines only. */
export function childDone(id: string, output: unknown, run?: number): ChildEndEvent {
  return { ...childEnd("done", id, run), ...(output !== undefined && { output }) };
}

/** The event that tells a parent that its child has failed. `run` is given for machines only. */
export function childFailed(id: string, error: unknown, run?: number): ChildEndEvent {
  return { ...childEnd("error", id, run), ...(error !== undefined && { error: storableThrown(error) }) };
}

function childEnd(how: "done" | "error", actorId: string, run: number | undefined): ChildEndEvent {
  return { type: `xstate.${how}.actor.${actorId}`, actorId, ...(run !== undefined && { $run: run }) };
}
