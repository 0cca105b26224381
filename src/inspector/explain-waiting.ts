/**
 * Explains in a few sentences why an instance waits: the awaited instance or event, the time since when, and the next
 * event.
 */
import type { LimitWait, PendingTask } from "../../storage/storage.ts";
import { limitWords } from "../engine/limit-words.ts";
import { eventWords, delayWords } from "./chart/words.ts";
import { html, type Html } from "./html.ts";
import type { InstanceWork } from "./read-instances.ts";
import { dueMoment, moment, type SecretFilter } from "./show-values.ts";

/** The facts about a waiting instance. */
interface WaitingInstance {
  readonly status: "active" | "done";
  /** The state, in words. */
  readonly state: string;
  /** The time of the instance's last step. */
  readonly since: number;
  /** The events from outside that its chart answers now; null where the chart is not registered here. */
  readonly events: readonly string[] | null;
  readonly pending: InstanceWork;
  /** The reason why the instance needs a person, apart from its tasks. */
  readonly trouble?: string | null;
  /** Active instances whose end the instance waits for. */
  readonly others?: readonly AwaitedInstance[];
}

/** An instance that the shown instance waits for. */
export interface AwaitedInstance {
  readonly id: string;
  /** The relation to the waiting instance, such as `child`. */
  readonly is: string;
  /** The state, in words. */
  readonly state: string;
}

/** The sentences, the most important one first. Never empty. */
export function explainWaiting({ pending, ...standing }: WaitingInstance, redact: SecretFilter): Html[] {
  const { tasks, watches } = pending;
  const { trouble = null } = standing;
  const told = [
    ...(trouble === null ? [] : [html`It needs attention: ${redact(trouble)}.`]),
    ...tasks.filter(({ deadAt }) => deadAt !== null).map((task) => setAside(task, redact)),
    ...tasks.filter(isFailing).map((task) => failing(task, redact)),
    ...tasks
      .filter((task) => task.deadAt === null && task.failures === 0 && task.kind !== "timer")
      .map(underWay),
  ];
  if (standing.status === "done") {
    return [
      html`It ended in ${standing.state} at ${moment(standing.since)}, and waits for nothing.`,
      ...told,
    ];
  }
  const others = (standing.others ?? []).slice(0, MAX_KEYS);
  const timers = tasks
    .filter((task) => task.kind === "timer" && task.deadAt === null && task.failures === 0)
    .toSorted((a, b) => a.dueAt - b.dueAt)
    .map(timer);
  const waits = [...told, ...watched(watches), ...timers, ...others.map(waitedFor)];
  return [...waits, ...forEvents(standing, waits.length > 0)];
}

function isFailing({ failures, deadAt }: PendingTask): boolean {
  return failures > 0 && deadAt === null;
}

const WHAT: Readonly<Record<string, (name: string) => string>> = {
  effect: (name) => `the effect ${name}`,
  invocation: (name) => `the invocation ${name.replace(/^invoke\./, "")}`,
  message: (name) => `the message ${name}`,
  timer: (name) => `the timer "${timerWords(name)}"`,
} satisfies Record<PendingTask["kind"], (name: string) => string>;

const what = ({ kind, name }: PendingTask): string => WHAT[kind]?.(name) ?? `the task ${kind}`;

function setAside(task: PendingTask, redact: SecretFilter): Html {
  const { deadAt, crashes, failures, lastError } = task;
  const error = lastError === null ? null : html`, its last error being “${redact(lastError)}”`;
  const reason = crashes > 0 ? html`its process died ${times(crashes)}` : html`it failed ${times(failures)}`;
  return html`It is stuck: ${what(task)} was set aside at ${moment(deadAt ?? 0)} after ${reason}${error}. A
  person has to have it tried again or dropped.`;
}

function failing(task: PendingTask, redact: SecretFilter): Html {
  const { failures, lastError, isHeld, dueAt, waitsFor } = task;
  const error = lastError === null ? null : html`, last with “${redact(lastError)}”`;
  const due =
    waitsFor === undefined
      ? html`the next attempt is at ${dueMoment(dueAt)}`
      : html`the next attempt ${limitWait(waitsFor)}`;
  const next = isHeld ? html`it is being tried now` : due;
  return html`It waits for ${what(task)}, which has failed ${times(failures)}${error}; ${next}.`;
}

function underWay(task: PendingTask): Html {
  const { isHeld, isSuspect, dueAt, visibleAt, crashes, waitsFor } = task;
  const died = crashes > 0 ? html` (its process has died ${times(crashes)})` : null;
  if (isSuspect && !isHeld) {
    return html`It waits for ${what(task)}, which is tried when no other task is in hand whose processes have
    died${died}.`;
  }
  if (waitsFor !== undefined) return html`It waits for ${what(task)}, which ${limitWait(waitsFor)}${died}.`;
  return isHeld
    ? html`It waits for ${what(task)}, which a process has in hand until ${dueMoment(visibleAt)} or
      longer${died}.`
    : html`It waits for ${what(task)}, which is due at ${dueMoment(dueAt)}${died}.`;
}

const limitWait = (wait: LimitWait): Html =>
  "until" in wait ? html`${limitWords(wait)} ${dueMoment(wait.until)}` : html`${limitWords(wait)}`;

const MAX_KEYS = 3;

function watched(watches: InstanceWork["watches"]): Html[] {
  const kinds = new Map<string, string[]>();
  for (const { kind, key } of watches) kinds.set(kind, [...(kinds.get(kind) ?? []), key]);
  return [...kinds].map(([kind, keys]) => {
    const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : "";
    const shown = keys
      .slice(0, MAX_KEYS)
      .map((key, index) => html`${index > 0 ? ", " : ""}<code>${key}</code>`);
    return html`It waits for news of ${shown}${more}; ${kind} is polled.`;
  });
}

function waitedFor({ id, is, state }: AwaitedInstance): Html {
  return html`It waits for its ${is} <code>${id}</code>, which is in ${state}.`;
}

/** An address has money to look after when its order is long over. */
function timer({ name, dueAt }: PendingTask): Html {
  return html`Its timer “${timerWords(name)}” fires at ${dueMoment(dueAt)}.`;
}

/** The name of a timer is the event of its delay, or an id that the chart gave it. */
function timerWords(name: string): string {
  return eventWords(name, (delay) => delayWords(delay, undefined));
}

function forEvents({ events, since }: Omit<WaitingInstance, "pending">, isMore: boolean): Html[] {
  if (events === null) {
    const unknown =
      "Its chart is not registered in this process, so the events it would answer are not known.";
    return [html`Its last step was at ${moment(since)}. ${unknown}`];
  }
  const list = events.map((event, index) => html`${index > 0 ? ", " : ""}<code>${event}</code>`);
  const oneOf = events.length > 1 ? "one of " : "";
  if (isMore) {
    const also = events.length > 0 ? html` It also answers ${list}.` : null;
    return [html`Its last step was at ${moment(since)}.${also}`];
  }
  return events.length > 0
    ? [html`It has waited since ${moment(since)} for somebody to send ${oneOf}${list}.`]
    : [html`It has stood still since ${moment(since)}, and no event is known that would move it.`];
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
