/** Causes of steps: stored as short texts beside the history rows, and read back for people. */
import type { HistoryRecord, TaskRecord } from "../../storage/storage.ts";
import { STEP_PATTERN } from "./stamps.ts";

/** The origin of a task: the step that armed it. Null for a task whose id does not tell. */
export interface TaskCause {
  readonly instance: string;
  /** The stamp of the step, as in its history; its number where a viewer makes the step again from other rows. */
  readonly step: string;
}

/** The cause of a step. */
export type StepCause =
  /** A task that a step armed: an effect by its outcome, a timer, a promise by its end, a message from the step's instance. */
  | {
      readonly kind: TaskRecord["kind"];
      readonly task: string;
      readonly from: TaskCause | null;
      /** Effects only: the name of the effect. */
      readonly name?: string;
      /** Timers only: it fired before its time, for the clock was set back meanwhile and its delay had passed. */
      readonly isMoved?: true;
    }
  /** A finding of a watcher of this kind. */
  | { readonly kind: "watch"; readonly watch: string }
  /** The step of a parent, in whose commit its child machine began. */
  | { readonly kind: "parent"; readonly from: TaskCause };

type CausingTask = Pick<TaskRecord, "id" | "kind" | "name"> & Partial<Pick<TaskRecord, "dueAt">>;

/** The common cause of the steps of one commit: a task, or a watcher of this kind. */
export type CommitCause = CausingTask | { readonly watch: string };

/** The number of the named step of this instance, if the step is among these history rows; else null. */
export function stepNumber({ instance, step }: TaskCause, history: readonly HistoryStep[]): number | null {
  if (NUMBER.test(step)) return Number(step);
  return history.find((row) => row.instance === instance && row.stamp === step)?.version ?? null;
}

export type HistoryStep = Pick<HistoryRecord, "instance" | "version" | "stamp">;

/** No stamp is as short. */
const NUMBER = /^\d{1,16}$/;

/** The text for a step of this instance, made at this time. A task of its own is named without the id of the instance. */
export function causeText(cause: CommitCause, instance: string, at = Infinity): string {
  if ("watch" in cause) return `watch ${cause.watch}`;
  const { id, kind, name, dueAt = at } = cause;
  const place = id.startsWith(`${instance}:`) ? id.slice(instance.length + 1) : null;
  // The id of another instance may begin in the same way, and have a space in it.
  if (place === null || place.includes(" ")) return `${kind} ${id}`;
  // The names of the others can be read in the event.
  const note = kind === "timer" && dueAt - at > MAX_SKEW_MS ? MOVED : "";
  return kind === "effect" ? `${kind}@${place} ${name}` : `${kind}@${place}${note}`;
}

/** The text for the first step of a child machine, which begins in the commit of this step of its parent. */
export function causeOfParent({ instance, stamp }: Pick<HistoryRecord, "instance" | "stamp">): string {
  return `parent ${instance}:${stamp}`;
}

/** Clocks of processes on one database of PostgreSQL differ by less than this. */
const MAX_SKEW_MS = 60_000;
const MOVED = " moved";

const OF_OWN_TASK = /^(effect|timer|invocation|message)@([^ ]+)(?: (.*))?$/s;
const OF_TASK = /^(effect|timer|invocation|message) (.*)$/s;
const OF_WATCH = /^watch (.*)$/s;
const OF_PARENT = new RegExp(`^parent (.*):(${STEP_PATTERN})$`, "s");
/** An id of a task: instance, stamp and place in the arming step, perhaps with a suffix for a later task. */
const TASK_ID = new RegExp(String.raw`^(.*):(${STEP_PATTERN}):\d+(?::sent(?::\d+)?|:back)*$`, "s");

/** The cause that a text tells of a step of this instance; null where it tells none. */
export function causeFromText(text: string | null, instance: string): StepCause | null {
  if (text === null) return null;
  const [, watch] = OF_WATCH.exec(text) ?? [];
  if (watch !== undefined) return { kind: "watch", watch };
  const [, parent, step] = OF_PARENT.exec(text) ?? [];
  if (parent !== undefined && step !== undefined) return { kind: "parent", from: { instance: parent, step } };
  const [, kind, place, name] = OF_OWN_TASK.exec(text) ?? [];
  if (kind !== undefined) return ofTask(kind, `${instance}:${place}`, name);
  const [, other, task] = OF_TASK.exec(text) ?? [];
  return other === undefined || task === undefined ? null : ofTask(other, task);
}

function ofTask(kind: string, task: string, name?: string): StepCause {
  const from = originOf(task);
  const named = name === undefined ? {} : kind === "timer" ? { isMoved: true as const } : { name };
  return { kind: kind as TaskRecord["kind"], task, from, ...named };
}

function originOf(task: string): TaskCause | null {
  const [, instance, step] = TASK_ID.exec(task) ?? [];
  return instance === undefined || step === undefined ? null : { instance, step };
}
