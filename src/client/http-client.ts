/** Sends a request until it is answered, under one idempotency key. */
import type { Clock, Random } from "../core/runtime.ts";
import type { CheckedClientOptions } from "./client-options.ts";
import { NoAnswer } from "./no-answer.ts";
import type { Operation } from "./operations.ts";
import { acceptedText, objectIn, type Attempt, type ReceivedAnswer } from "./read-answer.ts";
import { retrying } from "./retrying.ts";

/** A question to the API: an endpoint with its ids, fields and options. */
export interface ServiceRequest {
  readonly operation: Operation;
  /** The path with its ids, and the query. */
  readonly target: string;
  /** JSON, where the endpoint takes a body. */
  readonly body: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly signal: AbortSignal | undefined;
}

const KEY_BYTES = 16;

/** The way to the service. */
export class HttpClient {
  readonly #options: CheckedClientOptions;

  constructor(options: CheckedClientOptions) {
    this.#options = options;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** The object that is answered. Rejects with `ApiError`, `NoAnswer`, or the reason of the caller's signal. */
  object(question: ServiceRequest): Promise<object> {
    return this.#ask(question, objectIn);
  }

  /** The text that is answered. Rejects in the same way. */
  text(question: ServiceRequest): Promise<string> {
    return this.#ask(question, acceptedText);
  }

  /** The text that is answered, in parts as they come, each within `timeoutMs`. Rejects in the same way. */
  async *parts(question: ServiceRequest): AsyncGenerator<string, void, undefined> {
    const { body, attempt } = await this.#ask(question, (received, made) => {
      acceptedText(received, made);
      return { body: received.body, attempt: made };
    });
    if (body === null) return;
    const reader = body.getReader();
    const decoder = new TextDecoder();
    try {
      for (;;) {
        const read = async (): Promise<Chunk> => (await reader.read()) as Chunk;
        const { done, value } = await this.#inTime(question, attempt, read);
        if (done || value === undefined) return;
        yield decoder.decode(value, { stream: true });
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  async #ask<T>(
    question: ServiceRequest,
    read: (received: ReceivedAnswer, attempt: Attempt) => T,
  ): Promise<T> {
    const { operation, target, signal } = question;
    signal?.throwIfAborted();
    // Made once: every retry of this call is the same request to the service.
    const idempotencyKey = operation.method === "POST" ? (question.idempotencyKey ?? this.#newKey()) : null;
    const label = `${operation.method} ${target.split("?")[0]}`;
    return retrying(
      async (number) => {
        const attempt = { label, number, idempotencyKey };
        return read(await this.#send(question, attempt), attempt);
      },
      this.#options,
      signal,
    );
  }

  #newKey(): string {
    return `client_${hexOf(this.#options.random, KEY_BYTES)}`;
  }

  /** One request, within its time. */
  #send(question: ServiceRequest, attempt: Attempt): Promise<ReceivedAnswer> {
    const isStream = question.operation.reads === "lines";
    return this.#inTime(question, attempt, async (signal) => {
      const request = this.#request(question, attempt.idempotencyKey, signal);
      const response = await this.#options.fetch(request);
      const retryAfterMs = retryAfterOf(response.headers, this.#options.clock);
      const { status, body } = response;
      if (isStream && status === 200) return { status, text: "", body, retryAfterMs };
      return { status, text: await boundedText(response, signal), body: null, retryAfterMs };
    });
  }

  async #inTime<T>(
    question: ServiceRequest,
    { label, number, idempotencyKey }: Attempt,
    act: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock, timeoutMs } = this.#options;
    const limit = new AbortController();
    const over = new AbortController();
    const either = AbortSignal.any([
      limit.signal,
      ...(question.signal === undefined ? [] : [question.signal]),
    ]);
    void clock.sleep(timeoutMs, over.signal).then(() => {
      if (!over.signal.aborted) limit.abort(new Error("the time was up"));
    });
    try {
      return await Promise.race([act(either), rejectedBy(either)]);
    } catch (cause) {
      question.signal?.throwIfAborted();
      const why = limit.signal.aborted ? `within ${timeoutMs} ms` : "because the connection failed";
      throw new NoAnswer({
        message: `${label} was not answered ${why}`,
        status: null,
        mayPass: true,
        attempts: number,
        idempotencyKey,
        cause,
      });
    } finally {
      over.abort();
    }
  }

  #request({ operation, target, body }: ServiceRequest, key: string | null, signal: AbortSignal): Request {
    const { baseUrl, apiKey } = this.#options;
    const headers = new Headers({
      authorization: `Bearer ${apiKey}`,
      accept: "application/json, text/html, text/csv",
    });
    if (body !== undefined) headers.set("content-type", "application/json");
    if (key !== null) headers.set("idempotency-key", key);
    const { method } = operation;
    // A key is not carried to where a redirect leads.
    const init: RequestInit = { method, headers, signal, redirect: "manual" };
    return new Request(`${baseUrl}${target}`, body === undefined ? init : { ...init, body });
  }
}

/** Whole seconds, or a date, as proxies write it. */
function retryAfterOf(headers: Headers, clock: Clock): number | null {
  const value = headers.get("retry-after");
  if (value === null) return null;
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - clock.now());
}

/** Rejects when the signal aborts, also where `fetch` does not listen to it. */
function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const refuse = (): void => reject(signal.reason as Error);
    if (signal.aborted) refuse();
    else signal.addEventListener("abort", refuse, { once: true });
  });
}

function hexOf(random: Random, length: number): string {
  return [...random.bytes(length)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A page of lists holds 100 elements; the largest of them is far smaller than this. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

interface Chunk {
  readonly done: boolean;
  /** Absent at the end. */
  readonly value?: Uint8Array;
}

/** The whole text. Rejects when it is too long, and with the reason of `signal` when that aborts. */
async function boundedText(response: Response, signal: AbortSignal): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = (await reader.read()) as Chunk;
      signal.throwIfAborted();
      if (done || value === undefined) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    // Cancelling a finished stream does nothing. The sender's reaction is not awaited.
    reader.cancel().catch(() => {});
  }
}
