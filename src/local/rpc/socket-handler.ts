/** A websocket session: its calls, subscriptions and notifications. */
import type { Fault } from "../faults.ts";
import { RPC_CODE, RpcError, invalidParams } from "./errors.ts";
import type { RpcCall, RpcHandler } from "./call.ts";
import type { Feed, Notice, FeedListener, Topic } from "./feed.ts";
import { toJson } from "./json.ts";
import type { RpcServer } from "./server.ts";
import { TOPICS } from "./topics.ts";

/** Far more than a wallet needs, and little enough that many sockets do not fill the memory. */
const MAX_SUBSCRIPTIONS = 1000;

/** Calls that a delay or a hanging node keeps waiting. */
const MAX_OPEN_CALLS = 1000;

/** The other end of a session. */
interface Wire {
  send(text: string): void;
  /** Ends the connection without a closing message. */
  cut(): void;
}

/** Serves one socket until it is closed. */
export class SocketHandler {
  readonly #server: RpcServer;
  readonly #feed: Feed;
  readonly #wire: Wire;
  readonly #methods: ReadonlyMap<string, RpcHandler>;
  readonly #subscriptions = new Map<number, FeedListener>();
  readonly #closed = new AbortController();
  #openCalls = 0;

  constructor(server: RpcServer, wire: Wire) {
    this.#server = server;
    this.#feed = server.feed;
    this.#wire = wire;
    this.#methods = new Map(
      Object.entries(TOPICS).flatMap(([name, topic]): [string, RpcHandler][] => [
        [`${name}Subscribe`, (call) => this.#subscribe(topic(call))],
        [`${name}Unsubscribe`, (call) => this.#unsubscribe(call)],
      ]),
    );
  }

  /** Takes a message of the client: one call, or a batch of them. */
  async receive(text: string): Promise<void> {
    if (this.#openCalls >= MAX_OPEN_CALLS) {
      this.#wire.cut();
      return;
    }
    this.#openCalls += 1;
    const door = { transport: "websocket", methods: this.#methods } as const;
    try {
      const { status, body } = await this.#server.answer(text, door, this.#closed.signal);
      // There is no HTTP status on a socket: a node in that state loses its connections.
      if (status !== 200) this.#wire.cut();
      else if (body !== "") this.#wire.send(body);
    } catch {
      this.#wire.cut();
    } finally {
      this.#openCalls -= 1;
    }
  }

  /** The socket is gone. */
  close(): void {
    this.#closed.abort();
    for (const subscriber of this.#subscriptions.values()) this.#feed.remove(subscriber);
    this.#subscriptions.clear();
  }

  #subscribe(topic: Topic): number {
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
      throw new RpcError(
        RPC_CODE.internalError,
        "Internal Error: Subscription refused. Node subscription limit reached",
      );
    }
    const id = this.#server.nextSubscription();
    const subscriber: FeedListener = {
      topic,
      notify: (notice) => this.#notify(id, topic, notice),
      end: () => this.#wire.cut(),
    };
    this.#feed.add(subscriber);
    this.#subscriptions.set(id, subscriber);
    return id;
  }

  #unsubscribe(call: RpcCall): true {
    const id = call.count(0);
    if (this.#drop(id)) return true;
    throw invalidParams("Invalid subscription id.");
  }

  #drop(id: number): boolean {
    const subscriber = this.#subscriptions.get(id);
    if (subscriber !== undefined) this.#feed.remove(subscriber);
    return this.#subscriptions.delete(id);
  }

  #notify(subscription: number, { notification: method }: Topic, { result, isLast }: Notice): void {
    if (isLast === true) this.#drop(subscription);
    let fault: Fault | undefined;
    try {
      fault = this.#server.notificationFault(method, result);
    } catch {
      return this.#wire.cut();
    }
    if (fault?.kind === "drop" || fault?.kind === "hang") return;
    this.#wire.send(toJson({ jsonrpc: "2.0", method, params: { result, subscription } }));
  }
}
