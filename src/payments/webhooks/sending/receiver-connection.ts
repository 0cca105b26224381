/** A guarded connection to a receiver: one request at a time, kept open as long as HTTP allows. */
import type { Socket } from "node:net";
import type { Client, Dispatcher } from "undici";
import { type Answer, AnswerReader, type Reading } from "./answer-reader.ts";
import { type ReceiverSocket, openReceiverSocket, type SocketOptions } from "./receiver-socket.ts";

/** Most a receiver may answer in the headers of one answer, in bytes; Node's own bound. */
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Most of one answer on the wire: its headers, interim answers and body have bounds of their own, and 64 KiB of body in chunks
 * of one byte come as 384 KiB. Only a reason phrase, a chunk's extensions or an endless chunk length escapes those bounds.
 */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** No connection is older: by then its receiver's address is judged again, and its certificate verified again. */
const MAX_CONNECTION_MS = 120_000;
/** Ended by us after so long without a request, before receivers do it: none must be sent into a connection that just ends. */
const MAX_IDLE_MS = 4_000;

/** Thrown when the receiver has ended a kept connection before it was used again. */
export class KeptConnectionError extends Error {
  override readonly name = "KeptConnectionError";
}

/** Thrown when a receiver sends more than {@link MAX_ANSWER_BYTES} and no status line. */
class AnswerTooLong extends Error {
  override readonly name = "AnswerTooLong";
}

export type ReceiverRequest = Pick<Dispatcher.RequestOptions, "method" | "headers" | "body">;

/** Milliseconds that each stage of opening a connection took. */
export type ConnectionTime = ReceiverSocket["opening"];

/** A connection that was judged when it was made. Made by {@link ReceiverConnection.open}. */
export class ReceiverConnection {
  readonly #client: Client;
  readonly #socket: Socket;
  readonly madeAt: number;
  /** Told of the request that it was opened for. */
  readonly opening: ConnectionTime;
  #hasEnded = false;

  private constructor(client: Client, { socket, opening }: ReceiverSocket, madeAt: number) {
    this.#client = client;
    this.#socket = socket;
    this.madeAt = madeAt;
    this.opening = opening;
    client.on("disconnect", () => (this.#hasEnded = true));
  }

  /** Rejects as {@link openReceiverSocket} does. */
  static async open(url: URL, options: SocketOptions, signal: AbortSignal): Promise<ReceiverConnection> {
    // Loaded by the first delivery: a host without webhooks never pays for it. For its bare name Bun has a stand-in that
    // sends nothing; by its file Bun loads it too.
    const { Client } = await import("undici/index.js");
    const opened = await openReceiverSocket(url, options, signal);
    let isTaken = false;
    const client = new Client(url.origin, {
      // Not at once: undici takes no socket while it is still asking for one.
      connect: (_options, connected) =>
        queueMicrotask(() => {
          const hasEnded = isTaken;
          isTaken = true;
          if (hasEnded) connected(new KeptConnectionError("the receiver has ended the connection"), null);
          else connected(null, opened.socket);
        }),
      pipelining: 1,
      keepAliveTimeout: MAX_IDLE_MS,
      keepAliveMaxTimeout: MAX_CONNECTION_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The caller's absolute deadline instead of undici's timers, which start again at every stage.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return new ReceiverConnection(client, opened, options.clock.now());
  }

  isUsable(now: number): boolean {
    const age = now - this.madeAt;
    // A wall clock may be set back meanwhile.
    return !this.#hasEnded && age >= 0 && age < MAX_CONNECTION_MS;
  }

  /** Sends one request and reads its answer. Follows and decompresses nothing. */
  async ask(url: URL, request: ReceiverRequest, reading: Reading): Promise<Answer> {
    const reader = new AnswerReader(reading);
    const socket = this.#socket;
    const before = socket.bytesRead;
    const bound = (): void => {
      if (socket.bytesRead - before <= MAX_ANSWER_BYTES) return;
      socket.destroy(new AnswerTooLong("an answer without end"));
    };
    socket.on("readable", bound);
    try {
      this.#client.dispatch({ ...request, path: url.pathname + url.search }, reader);
      return await reader.answer;
    } finally {
      socket.off("readable", bound);
    }
  }

  /** Ends it at once, together with a request under way. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#client.destroy();
    // The client has none before its first request.
    this.#socket.destroy();
  }
}
