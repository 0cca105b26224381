/** Messages: events and starts on their way to an instance, as tasks of that instance. */
import { createHash } from "node:crypto";
import type { EventObject } from "xstate";
import type { InstanceRecord, TaskRecord } from "../../storage/storage.ts";
import { RETRY, STOP, type ChartSnapshot } from "./chart.ts";
import type { FieldValues } from "./instance-finder.ts";
import { instanceFinder } from "./instance-finders.ts";
import { isLongKey, MESSAGE_KEYS } from "./own-limit.ts";
import { stateMatches } from "./state-matches.ts";
import { nameOf } from "./workflow-key.ts";
import { eventFromJson, eventFromText, eventToJson, fromJson, toJson } from "./values.ts";
import type { Writable } from "./writable.ts";

/** An instance to send to, and the chart and version it was started with, as `name@version`. */
export interface Recipient {
  readonly instance: string;
  readonly workflow: string;
  /** The life of the target instance: a message for an earlier life of the same id is dropped. */
  readonly life?: string;
  readonly parentLife?: string;
  /** The name of the chart that the target must be an instance of. Absent where any will do. */
  readonly machine?: string;
  /** Texts that it must be found by. */
  readonly where?: FieldValues;
  readonly state?: string;
  /** Where the chart has sent to an address: that nobody is there any more is told in the log. */
  readonly isAddress?: true;
}

export type MessageTarget = Pick<
  Recipient,
  "life" | "parentLife" | "machine" | "where" | "state" | "isAddress"
>;

/** Starts its target when absent, or delivers an event. Where the target has ended, `otherwise` goes back to the sender. */
export interface Message extends MessageTarget {
  /** Set when the target has existed: absent, it was removed, and the message is dropped. Else the message waits for it. */
  readonly known?: true;
  readonly start?: { readonly workflow: string; readonly input: unknown };
  readonly event?: EventObject;
  readonly otherwise?: Recipient & { readonly event: EventObject };
}

/** The params of the engine's own action `start`: `machine` is the name of a registered workflow. */
export interface StartParams {
  readonly machine: string;
  readonly id: string;
  readonly input: unknown;
}

/** The params of the engine's own action `tell`; `otherwise` comes back when the target has ended. */
export interface TellParams {
  readonly machine: string;
  readonly id: string;
  readonly event: EventObject;
  readonly otherwise?: EventObject;
  /** The target has existed: where it is gone, `otherwise` comes back as if it had ended. Else the event waits for it. */
  readonly known?: true;
  /** The target must be of this life, with these values and in this state: else the event is dropped. */
  readonly only?: {
    /** See `engine.read`. */
    readonly life: string;
    /** Texts that it must be found by. */
    readonly where?: FieldValues;
    /** The path of a state, such as `paying.card`. */
    readonly state?: string;
  };
}

/**
 * A message as a task of its target, due at `dueAt`. It names the chart without a version: the storage knows the present one.
 * Messages come in the order of sending; only a start, for which others wait, and commands overtake them.
 */
export function messageTask(
  { id, dueAt }: Pick<TaskRecord, "id" | "dueAt">,
  { instance, workflow, life, parentLife, machine, where, state, isAddress }: Recipient,
  message: Message,
): TaskRecord {
  const { known, start, event, otherwise } = message;
  const payload = {
    known,
    life,
    parentLife,
    machine,
    where,
    state,
    isAddress,
    start: start && { ...start, input: toJson(start.input, "input") },
    event: event && eventToJson(event),
    otherwise: otherwise && { ...otherwise, event: eventToJson(otherwise.event) },
  };
  return {
    id,
    instance,
    workflow: nameOf(workflow),
    kind: "message",
    name: event?.type ?? "$start",
    payload: JSON.stringify(payload),
    dueAt,
    delayMs: 0,
    limits: start !== undefined || isCommand(event) ? [] : [{ key: messageKey(instance), atMost: 1 }],
  };
}

/** Whether the event is a command about the instance, which waits behind no message to it. */
const isCommand = (event: EventObject | undefined): boolean =>
  event?.type === STOP.type || event?.type === RETRY.type;

/** Whether this instance is the one that an event targets, rather than one of another chart or life under the same id. */
export function isMeant(
  target: MessageTarget,
  { workflow, life }: Pick<InstanceRecord, "workflow" | "life">,
  snapshot: ChartSnapshot,
): boolean {
  const { parentLife = snapshot.parent?.life, machine = nameOf(workflow), where, state } = target;
  const conditions = [
    target.life === undefined || target.life === life,
    machine === nameOf(workflow),
    snapshot.parent?.life === undefined || snapshot.parent.life === parentLife,
    where === undefined || instanceFinder.has(snapshot, where),
    state === undefined || stateMatches(snapshot.value, state),
  ];
  return !conditions.includes(false);
}

/** Whether the state of the target decides: the events before the message may have changed that. */
export const dependsOnState = ({ where, state }: MessageTarget): boolean =>
  where !== undefined || state !== undefined;

/** Why no event may have one of its fields, or null: a step reads such a field as one of the engine's. */
export function reservedField(event: object): string | null {
  const field = Object.keys(event).find((key) => key.startsWith("$"));
  return field === undefined ? null : `event.${field}: fields that begin with $ are the engine's own`;
}

/** The limit that keeps the messages to an instance in order. An id may be longer than a key, and then has its hash there. */
export function messageKey(instance: string): string {
  const key = `${MESSAGE_KEYS}${instance}`;
  return isLongKey(key) ? `${MESSAGE_KEYS}#${createHash("sha256").update(instance).digest("hex")}` : key;
}

export function messageFromText(text: string): Message {
  const message = JSON.parse(text) as Writable<Message>;
  const { start, event, otherwise } = message;
  if (start) message.start = { ...start, input: fromJson(start.input) };
  if (event) message.event = eventFromJson(event);
  if (otherwise) message.otherwise = { ...otherwise, event: eventFromJson(otherwise.event) };
  return message;
}

/** A delayed event: for the instance that owns the timer, unless it names another recipient. */
interface Delayed {
  readonly to?: Recipient;
  readonly event: EventObject;
}

/** The payload of a timer. */
export function delayedToText({ to, event }: Delayed): string {
  return JSON.stringify(to === undefined ? eventToJson(event) : { to, event: eventToJson(event) });
}

export function delayedFromText(text: string): Delayed {
  const { to, event, type } = JSON.parse(text) as Partial<Delayed> & { readonly type?: string };
  // Every event has a type; what names a recipient has none.
  if (type !== undefined || to === undefined) return { event: eventFromText(text) };
  return { to, event: eventFromJson(event) };
}
