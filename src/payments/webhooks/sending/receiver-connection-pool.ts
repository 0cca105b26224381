/** The connections that are kept between deliveries: for each receiver's URL a few, in all a bounded number. */
import type { Answer, Reading } from "./answer-reader.ts";
import {
  KeptConnectionError,
  ReceiverConnection,
  type ConnectionTime,
  type ReceiverRequest,
} from "./receiver-connection.ts";
import { ReceiverConnectError, type SocketOptions } from "./receiver-socket.ts";
import { parseReceiverUrl } from "./receiver-url.ts";

/** The most idle connections for a URL: as many as one webhook may have in flight at once. */
const MAX_IDLE_PER_URL = 4;
/** The most idle connections in total: beyond this, the connection idle for longest is ended. */
const MAX_IDLE = 256;

/** A call, and its time limit. */
interface Call extends Reading {
  /** The receiver's URL as it is stored. */
  readonly text: string;
  readonly request: ReceiverRequest;
}

/** An answer, and how its connection was opened; null for one that was kept. */
interface CallAnswer extends Answer {
  readonly opening: ConnectionTime | null;
}

/**
 * Makes, keeps and ends connections. A kept connection serves the URL that it was made for and no other, so that two webhooks
 * never share one. It is not used for longer than two minutes.
 */
export class ReceiverConnectionPool {
  readonly #options: SocketOptions;
  /** Idle connections by URL; the URL used last comes last. */
  readonly #idle = new Map<string, ReceiverConnection[]>();

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /**
   * Sends a request and returns its answer, on a kept connection if one is open. The request is sent only once: when a
   * kept connection breaks during the request, nobody knows whether the request has arrived.
   *
   * Rejects with {@link ReceiverConnectError} before a request was sent, with undici's errors after.
   */
  async call(call: Call): Promise<CallAnswer> {
    const { text, signal } = call;
    const url = this.#acceptedUrl(text);
    const kept = this.#take(text);
    if (kept !== null) {
      try {
        return { ...(await this.#ask(kept, url, call)), opening: null };
      } catch (error) {
        if (!(error instanceof KeptConnectionError)) throw error;
      }
    }
    const made = await ReceiverConnection.open(url, this.#options, signal);
    return { ...(await this.#ask(made, url, call)), opening: made.opening };
  }

  /** Like `call`, on a fresh connection that is judged now and ended afterwards. */
  async callAlone({ text, request, ...reading }: Call): Promise<Answer> {
    const url = this.#acceptedUrl(text);
    const made = await ReceiverConnection.open(url, this.#options, reading.signal);
    try {
      return await made.ask(url, request, reading);
    } finally {
      await made.end();
    }
  }

  /** Ends those that are not in use. */
  async endIdle(): Promise<void> {
    const all = [...this.#idle.values()].flat();
    this.#idle.clear();
    await Promise.all(all.map((each) => each.end()));
  }

  /** A stored URL was accepted once; the rules may have become stricter since. */
  #acceptedUrl(text: string): URL {
    const parsed = parseReceiverUrl(text, this.#options);
    if ("refused" in parsed) throw new ReceiverConnectError("blocked_address", parsed.refused);
    return parsed.ok;
  }

  async #ask(connection: ReceiverConnection, url: URL, call: Call): Promise<Answer> {
    let isWhole = false;
    try {
      const answer = await connection.ask(url, call.request, call);
      isWhole = answer.isWhole;
      return answer;
    } finally {
      if (isWhole && connection.isUsable(this.#options.clock.now())) this.#keep(call.text, connection);
      else await connection.end();
    }
  }

  #take(text: string): ReceiverConnection | null {
    const now = this.#options.clock.now();
    const idle = this.#idle.get(text) ?? [];
    for (let each = idle.pop(); each !== undefined; each = idle.pop()) {
      if (idle.length === 0) this.#idle.delete(text);
      if (each.isUsable(now)) return each;
      void each.end();
    }
    return null;
  }

  #keep(text: string, connection: ReceiverConnection): void {
    const idle = this.#idle.get(text) ?? [];
    this.#idle.delete(text);
    this.#idle.set(text, [...idle, connection].slice(-MAX_IDLE_PER_URL));
    if (idle.length >= MAX_IDLE_PER_URL) void idle[0]?.end();
    let count = 0;
    for (const each of this.#idle.values()) count += each.length;
    const [longest] = this.#idle;
    if (count <= MAX_IDLE || longest === undefined) return;
    this.#idle.delete(longest[0]);
    for (const each of longest[1]) void each.end();
  }
}
