/** The only way to a node: `fetch` with a deadline, whose every failure is an `EndpointFailure`. */
import type { Clock } from "../../runtime.ts";
import { answerTooLarge, EndpointFailure } from "../endpoint-failure.ts";
import type { CallRateLimit } from "./call-rate-limit.ts";

// One for all calls: an error for each would collect a stack trace that is never read.
const OVER = new Error("the call is over");

/** The standard `fetch`, or an in-process function that answers like a node. */
export type Fetch = typeof globalThis.fetch;

// Decompressed. The largest honest answer is a list of token accounts, about 600 bytes each: this holds 50,000 of them.
// An endless body must not fill the memory before the deadline ends it.
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

interface Way {
  readonly url: string;
  readonly fetch: Fetch;
  readonly headers: Readonly<Record<string, string>>;
  /** From the first byte sent to the last byte read. */
  readonly timeoutMs: number;
}

interface Bounds {
  /** Holds calls back before their deadline runs; null where the provider sets no limit. */
  readonly pace: CallRateLimit | null;
  readonly clock: Clock;
  /** Ends what is under way. */
  readonly closed: AbortSignal;
}

/** Sends a request with this many calls to the endpoint, and resolves with the text of its answer. */
export type EndpointFetch = (body: string, calls: number) => Promise<string>;

/** Wraps `fetch` for one endpoint. HTTP errors are thrown here. */
export function boundedFetch(way: Way, { pace, clock, closed }: Bounds): EndpointFetch {
  const { url, fetch, timeoutMs } = way;
  // Names of headers in lower case, so that no header is sent twice.
  const headers = { ...Object.fromEntries(new Headers(way.headers)), "content-type": "application/json" };
  return async (body, calls) => {
    await pace?.next(calls);
    closed.throwIfAborted();
    const stop = new AbortController();
    const end = (): void => stop.abort(OVER);
    closed.addEventListener("abort", end, { once: true });
    const deadline = clock.sleep(timeoutMs, stop.signal).then(() => undefined);
    try {
      // A node that redirects is misconfigured: following would turn the POST into a GET, or leak the call.
      const request = { method: "POST", headers, body, redirect: "manual" } as const;
      const answer = post(clock, () => fetch(url, { ...request, signal: stop.signal }));
      const text = await Promise.race([answer, deadline]);
      if (text === undefined) throw new EndpointFailure("timeout", "no answer in time");
      return text;
    } finally {
      closed.removeEventListener("abort", end);
      end();
    }
  };
}

async function post(clock: Clock, send: () => Promise<Response>): Promise<string> {
  const response = await send().catch(() => {
    throw new EndpointFailure("unreachable", "no connection");
  });
  if (!response.ok) {
    // The rest of an error's body is not read, since the body could be endless.
    void response.body?.cancel().catch(() => undefined);
    throw new EndpointFailure("http", `HTTP ${response.status}`, {
      code: response.status,
      ...retryAfter(response.headers.get("retry-after"), clock),
    });
  }
  return await readText(response);
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const pieces: AsyncIterable<Uint8Array> | readonly Uint8Array[] = body ?? [];
  try {
    for await (const chunk of pieces) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) throw answerTooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof EndpointFailure
      ? error
      : new EndpointFailure("unreachable", "the connection broke");
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Retry-After is either seconds or a date (RFC 9110). */
function retryAfter(header: string | null, clock: Clock): { retryAfterMs?: number } {
  if (header === null) return {};
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - clock.now();
  return Number.isFinite(ms) && ms > 0 ? { retryAfterMs: ms } : {};
}
