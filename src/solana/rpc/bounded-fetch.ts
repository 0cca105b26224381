/**
 * The only way to a node: `fetch` with a deadline and a bound on the answer, whose every failure is an `EndpointFailure`.
 */
import type { Clock } from "../../core/runtime.ts";
import { answerTooLarge, EndpointFailure } from "../endpoint-failure.ts";
import { foreignText } from "../../core/foreign-json.ts";
import type { CallRateLimit } from "./call-rate-limit.ts";
import { type EndpointFetch, isObject, type WrittenCall } from "./rpc-call.ts";

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

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** The frame of JSON-RPC with some numbers or hashes in it, or an error in their place. */
const FRAME = KIB;
/** An account without its data; a status; an entry of a list without its memo. Twice as much as nodes write today. */
const ENTRY = 512;
/** A transaction of version 1 full of characters that JSON writes as six. */
const LONGEST_MEMO = 24 * KIB;
/** Entries of a list whose memos may all be the longest. */
export const MOST_WITH_MEMOS = 32;
/** The accounts of one owner, some nine thousand: each costs a stranger its rent. */
const OWNED_ACCOUNTS = 4 * MIB;
/** 63 calls between programs of 10 KiB in base58, 10 KiB of logs in escapes, and the balances of 256 accounts. */
const TRANSACTION = 1.25 * MIB;
/** The accounts of each of some ten thousand transactions. */
const BLOCK = 8 * MIB;
/** An entry for each of the last 150 blocks. */
const PRIORITY_FEES = 16 * KIB;
/** Logs and balances of a run. */
const RUN = 256 * KIB;
/** An account after a run, which cannot be cut: programs make none longer than 10 KiB. */
const ACCOUNT_AFTER_RUN = 16 * KIB;
const SLOT = 16;
const BATCH = 4 * MIB;

/** The bytes of an answer to these calls at most. A batch whose answers have more is asked for again one by one. */
export function answerBound(calls: readonly Pick<WrittenCall, "method" | "params">[]): number {
  const bounds = calls.map((call) => FRAME + contentOf(call));
  const sum = bounds.reduce((total, bound) => total + bound, 0);
  return Math.max(...bounds, Math.min(sum, BATCH));
}

function contentOf({ method, params }: Pick<WrittenCall, "method" | "params">): number {
  const [first, second] = params;
  const items = Array.isArray(first) ? first.length : 1;
  const { dataSlice, limit, accounts } = objectIn(params.at(-1));
  switch (method) {
    case "getAccountInfo":
    case "getMultipleAccounts":
      return items * (ENTRY + Math.ceil(Number(objectIn(dataSlice)["length"] ?? 0) / 3) * 4);
    case "getTokenAccountsByOwner":
      return OWNED_ACCOUNTS;
    case "getSignatureStatuses":
      return items * ENTRY;
    case "getSignaturesForAddress":
      return Number(limit ?? 1_000) * ENTRY + MOST_WITH_MEMOS * LONGEST_MEMO;
    case "getTransaction":
      return TRANSACTION;
    case "getBlocks":
      return (Number(second) - Number(first) + 1) * SLOT;
    case "getBlock":
      return BLOCK;
    case "getRecentPrioritizationFees":
      return PRIORITY_FEES;
    case "simulateTransaction":
      return RUN + [objectIn(accounts)["addresses"] ?? []].flat().length * ACCOUNT_AFTER_RUN;
    default:
      return 0;
  }
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
