/** The only way to a node: `fetch` with a deadline, whose every failure is an `EndpointFailure`. */
import type { Clock } from "../../core/runtime.ts";
import { answerTooLarge, EndpointFailure } from "../endpoint-failure.ts";
import { foreignText } from "../../core/foreign-json.ts";
import { answerBound } from "./answer-bounds.ts";
import type { CallRateLimit } from "./call-rate-limit.ts";
import type { EndpointFetch } from "./rpc-call.ts";

// One for all calls: an error for each would collect a stack trace that is never read.
const OVER = new Error("the call is over");

/** The standard `fetch`, or an in-process function that answers like a node. */
export type Fetch = typeof globalThis.fetch;

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

/** Wraps `fetch` for one endpoint. HTTP errors are thrown here. */
export function boundedFetch(way: Way, { pace, clock, closed }: Bounds): EndpointFetch {
  const { url, fetch, timeoutMs } = way;
  // Names of headers in lower case, so that no header is sent twice.
  const headers = { ...Object.fromEntries(new Headers(way.headers)), "content-type": "application/json" };
  return async (body, calls) => {
    await pace?.next(calls.length);
    closed.throwIfAborted();
    const stop = new AbortController();
    const end = (): void => stop.abort(OVER);
    closed.addEventListener("abort", end, { once: true });
    const deadline = clock.sleep(timeoutMs, stop.signal).then(() => undefined);
    try {
      // A node that redirects is misconfigured: following would turn the POST into a GET, or leak the call.
      const request = { method: "POST", headers, body, redirect: "manual" } as const;
      const response = sent(clock, () => fetch(url, { ...request, signal: stop.signal }));
      // Decompressed. An endless body must not fill the memory before the deadline ends it.
      const answer = response.then((answered) => readText(answered, answerBound(calls)));
      const text = await Promise.race([answer, deadline]);
      if (text === undefined) throw new EndpointFailure("timeout", "no answer in time");
      return text;
    } finally {
      closed.removeEventListener("abort", end);
      end();
    }
  };
}

async function sent(clock: Clock, send: () => Promise<Response>): Promise<Response> {
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
  return response;
}

async function readText({ body }: Response, most: number): Promise<string> {
  const read = await foreignText(body, most).catch(() => {
    throw new EndpointFailure("unreachable", "the connection broke");
  });
  if ("text" in read) return read.text;
  if (read.fault === "too large") throw answerTooLarge();
  throw new EndpointFailure("garbled", `an answer that is ${read.fault}`);
}

/** Retry-After is either seconds or a date (RFC 9110). */
function retryAfter(header: string | null, clock: Clock): { retryAfterMs?: number } {
  if (header === null) return {};
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - clock.now();
  return Number.isFinite(ms) && ms > 0 ? { retryAfterMs: ms } : {};
}
