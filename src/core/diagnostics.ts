/**
 * Events of this process (requests, tasks, webhook calls, node calls) on Node's diagnostics channels, for metrics and
 * tracing.
 */
import { channel, subscribe, unsubscribe, type Channel } from "node:diagnostics_channel";

/** A diagnostics channel with the type of its messages. While no one has subscribed, publishing makes no message. */
export class Topic<Message extends object> {
  /** The name to subscribe to, as in `diagnostics_channel.subscribe(name, listener)`. */
  readonly name: string;
  readonly #channel: Channel;

  constructor(name: string) {
    this.name = name;
    this.#channel = channel(name);
  }

  /** Tells the subscribers, before it returns. An exception of a subscriber becomes an uncaught exception: Node's rule. */
  publish(make: () => Message): void {
    if (this.#channel.hasSubscribers) this.#channel.publish(make());
  }

  /** Calls `listener` with each message, from any copy of this package in the process, until the answer is called. */
  subscribe(listener: (message: Message) => void): () => void {
    const heard = (message: unknown): void => listener(message as Message);
    subscribe(this.name, heard);
    return () => {
      unsubscribe(this.name, heard);
    };
  }
}

/** A request to the API was answered. */
export interface RequestAnsweredEvent {
  readonly method: string;
  /**
   * The path with names in place of ids, such as "/v1/transactions/{transactionId}"; "none" for a path that leads
   * nowhere.
   */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** A task left the hands of this process. */
export interface TaskEndedEvent {
  /** The workflow's id and version. */
  readonly workflow: string;
  readonly kind: "effect" | "timer" | "invocation" | "message";
  /**
   * The name of the effect, or of the actor's logic. A timer and a message have their kind here: charts may compute an id
   * for each instance, and no name is to hold an id.
   */
  readonly name: string;
  /**
   * `failed`: it threw and will be tried again, unless its lease was lost to another process. `given_back`: it goes on as if
   * it had never been taken, because this process stops or the instance has moved to another version of its chart.
   */
  readonly outcome: "done" | "failed" | "given_back";
  readonly durationMs: number;
  /** The time from the due time of the task to its start. */
  readonly lateMs: number;
}

/** A webhook was called, once. */
export interface WebhookCalledEvent {
  /** "delivered", or the word of the attempt's error, such as "timeout". */
  readonly outcome: string;
  readonly durationMs: number;
}

/**
 * A call to a node of the chain. The calls of a batch are published separately, with the duration of the whole request.
 */
export interface NodeCalledEvent {
  /** The host name. Paths and queries of providers carry keys and are left out. */
  readonly endpoint: string;
  /** The JSON-RPC method. */
  readonly method: string;
  /** "answered", or the kind of the failure, such as "timeout" or "http". */
  readonly outcome: string;
  readonly durationMs: number;
}

export const requestAnswered = new Topic<RequestAnsweredEvent>("paystate.request.answered");
export const taskEnded = new Topic<TaskEndedEvent>("paystate.task.ended");
export const webhookCalled = new Topic<WebhookCalledEvent>("paystate.webhook.called");
export const nodeAsked = new Topic<NodeCalledEvent>("paystate.node.asked");
