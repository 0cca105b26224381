/** Messages: events and starts on their way to an instance, as tasks of that instance. */
import type { EventObject } from "xstate";
import type { TaskRecord } from "../../storage/storage.ts";
import { STOP } from "./chart.ts";
import { nameOf } from "./workflow-key.ts";
import { eventFromJson, eventFromText, eventToJson, fromJson, toJson } from "./values.ts";

/** An instance to send to, and the chart and version it was started with, as `name@version`. */
export interface Recipient {
  readonly instance: string;
  readonly workflow: string;
  /** Which instance of this id is meant: a message for another life than that which it finds is dropped. */
  readonly life?: string;
  /** The same of a child, by the life of its parent. */
  readonly parentLife?: string;
}

/** What tells the one instance that a message is for. */
export type MessageTarget = Pick<Recipient, "life" | "parentLife">;

/** Starts its target where absent, then hands it an event. Where that has ended, `otherwise` goes back to the sender, who waits. */
export interface Message extends MessageTarget {
  /** Its target has been there: where absent now, it was removed, and the message is dropped. Without this, the message waits. */
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
}

/**
 * A message as a task of its target, which becomes due at `dueAt`, in milliseconds since the Unix epoch. It names the
 * chart of its target and no version: the storage knows which one an instance has by now. Messages to one instance are
 * done one after the other, as they were sent; only a start, for which others wait, and the end that a parent orders pass them.
 */
export function messageTask(
  { id, dueAt }: Pick<TaskRecord, "id" | "dueAt">,
  { instance, workflow, life, parentLife }: Recipient,
  message: Message,
): TaskRecord {
  const { known, start, event, otherwise } = message;
  const payload = {
    known,
    life,
    parentLife,
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
    limits:
      start !== undefined || event?.type === STOP.type ? [] : [{ key: messageKey(instance), atMost: 1 }],
  };
}

/** The key that keeps the messages to an instance in order. */
export function messageKey(instance: string): string {
  return `message to ${instance}`;
}

export function messageFromText(text: string): Message {
  const { start, event, otherwise, ...meant } = JSON.parse(text) as Message;
  return {
    ...meant,
    ...(start && { start: { ...start, input: fromJson(start.input) } }),
    ...(event && { event: eventFromJson(event) }),
    ...(otherwise && { otherwise: { ...otherwise, event: eventFromJson(otherwise.event) } }),
  };
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
