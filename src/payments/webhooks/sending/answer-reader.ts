/** Reads an answer of a receiver as it arrives: the status line decides, and the beginning of the body is kept. */
import type { Dispatcher } from "undici";

/** Most of interim (1xx) answers before the real one: an endless row of them would keep the event loop busy. */
const MAX_INTERIM_BYTES = 64 * 1024;
/** The size of an interim answer without its headers: the status line and the empty line. */
const INTERIM_LINE_BYTES = 32;

/** Thrown when a receiver sends more interim answers than {@link MAX_INTERIM_BYTES}. */
export class InterimAnswersError extends Error {
  override readonly name = "InterimAnswersError";
}

/** The reason why the rest of an answer is not read: its beginning is enough. */
const ENOUGH = new Error("enough of the answer has been read");

/** The answer of a receiver. */
export interface Answer {
  readonly statusCode: number;
  /** The beginning of the body as text; null when there was none. */
  readonly excerpt: string | null;
  /** Whether it has come to its end: what is left of one would be taken for the next one's. */
  readonly isWhole: boolean;
}

/** Options of reading an answer. */
export interface Reading {
  /** Ends the request; before the status line the answer then rejects with its reason. */
  readonly signal: AbortSignal;
  /** Called at the status line of the final answer. */
  readonly onStatus: () => void;
}

/**
 * Reads one answer from undici's dispatch events, without the stream that undici's `request` makes for each answer. A
 * body that breaks off, or is cut by the signal, gives the bytes received so far.
 */
export class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #reading: Reading;
  readonly #excerpt = new ExcerptReader();
  readonly answer: Promise<Answer>;
  #resolve: (answer: Answer) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #abort: () => void = () => {};
  #statusCode: number | null = null;
  #interimLeft = MAX_INTERIM_BYTES;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { signal } = this.#reading;
    const abort = (): void => controller.abort(signal.reason as Error);
    if (signal.aborted) return abort();
    this.#abort = abort;
    signal.addEventListener("abort", abort, { once: true });
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Readonly<Record<string, unknown>>,
  ): void {
    if (statusCode >= 200) {
      this.#statusCode = statusCode;
      this.#reading.onStatus();
      return;
    }
    this.#interimLeft -= INTERIM_LINE_BYTES + JSON.stringify(headers).length;
    if (this.#interimLeft >= 0) return;
    controller.abort(new InterimAnswersError("more interim answers than any receiver needs"));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (!this.#excerpt.take(chunk)) controller.abort(ENOUGH);
  }

  onResponseEnd(): void {
    this.#end(true, null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(false, error);
  }

  #end(isWhole: boolean, error: Error | null): void {
    this.#reading.signal.removeEventListener("abort", this.#abort);
    if (this.#statusCode === null) this.#reject(error);
    else this.#resolve({ statusCode: this.#statusCode, excerpt: this.#excerpt.text(), isWhole });
  }
}

/** Read at most this much of an answer's body: room for any honest answer, and no more memory for an endless one. */
export const MAX_RESPONSE_BYTES = 64 * 1024;

/** Keep this much of it. */
const EXCERPT_BYTES = 1024;

/** The first {@link EXCERPT_BYTES} of a body that comes in chunks. Nothing is decompressed. */
export class ExcerptReader {
  readonly #kept: Uint8Array[] = [];
  #read = 0;

  /** Takes the next chunk. False once {@link MAX_RESPONSE_BYTES} have come: no more is to be read. */
  take(chunk: Uint8Array): boolean {
    // A copy: a chunk may be a view of a buffer that is used again.
    const left = EXCERPT_BYTES - this.#read;
    if (left > 0) this.#kept.push(Buffer.from(chunk.subarray(0, left)));
    this.#read += chunk.length;
    return this.#read < MAX_RESPONSE_BYTES;
  }

  /**
   * The excerpt as text; null when no byte was received. Bytes that are no UTF-8 become U+FFFD; so does NUL, which
   * PostgreSQL does not store.
   */
  text(): string | null {
    if (this.#read === 0) return null;
    // Streaming drops a character that the cut has split instead of garbling it.
    const text = new TextDecoder().decode(Buffer.concat(this.#kept), { stream: true });
    return text.replaceAll("\0", "\uFFFD");
  }
}
