/** Asking nodes: a question is retried and moved to the next endpoint until one answers it, or nothing is known. */
import type { Connection } from "@solana/web3.js";
import pRetry from "p-retry";
import type { Clock } from "../../runtime.ts";
import { LedgerUnavailable } from "../ledger.ts";
import { asEndpointFailure, isPassing, type EndpointFailure } from "./endpoint-failure.ts";
import type { Endpoint } from "./endpoint.ts";

/** All that a part of the ledger needs in order to ask. */
export interface Nodes {
  readonly endpoints: readonly Endpoint[];
  readonly clock: Clock;
  /** Aborted when the ledger is closed. */
  readonly closed: AbortSignal;
}

/** What a node is asked: one call, or several that must be answered by the same node. */
export type Question<T> = (connection: Connection, endpoint: Endpoint) => Promise<T>;

// Enough for a broken connection or a restarting proxy; anything longer is a durable timer's business, not ours.
const TRIES_PER_ENDPOINT = 3;
// Before an endpoint's second try; twice that before its third.
const FIRST_PAUSE_MS = 250;
// A caller of the API is waiting: an endpoint that wants to be left alone for longer is not waited for.
const LONGEST_PAUSE_MS = 4_000;
// Against a Retry-After of a day, which would silence an endpoint that is well again in a minute.
const LONGEST_REST_MS = 60_000;

/**
 * The first usable answer. Throws `LedgerUnavailable` when every endpoint was tried and none gave one: then nothing is
 * known. A failure is retried at the same endpoint only when it may pass.
 */
export async function ask<T>(nodes: Nodes, question: Question<T>): Promise<T> {
  const spent = new Map<Endpoint, number>(nodes.endpoints.map((endpoint) => [endpoint, 0]));
  const failures = new Map<Endpoint, EndpointFailure>();
  const attempt = async (): Promise<T> => {
    const endpoint = nextEndpoint(nodes, spent);
    if (endpoint === undefined) throw unavailable(nodes, failures);
    await pause(nodes, endpoint, spent.get(endpoint) ?? 0);
    try {
      nodes.closed.throwIfAborted();
      return await question(endpoint.connection, endpoint);
    } catch (error) {
      const failure = asEndpointFailure(error);
      const rest = Math.min(failure.facts.retryAfterMs ?? 0, LONGEST_REST_MS);
      failures.set(endpoint, failure);
      spent.set(endpoint, isPassing(failure) ? (spent.get(endpoint) ?? 0) + 1 : TRIES_PER_ENDPOINT);
      endpoint.restsUntil = Math.max(endpoint.restsUntil, nodes.clock.now() + rest);
      throw failure;
    }
  };
  try {
    return await pRetry(attempt, {
      retries: nodes.endpoints.length * TRIES_PER_ENDPOINT,
      // p-retry would sleep on the machine's clock; `pause` sleeps on ours.
      minTimeout: 0,
      shouldRetry: () => !nodes.closed.aborted && nextEndpoint(nodes, spent) !== undefined,
    });
  } catch {
    throw unavailable(nodes, failures);
  }
}

/**
 * The first answer that `accepts` likes, else the last one given. For questions where a node that lags answers wrongly
 * rather than not at all.
 */
export async function askUntil<T>(
  nodes: Nodes,
  accepts: (answer: T) => boolean,
  question: Question<T>,
): Promise<T> {
  let last: { answer: T } | { error: unknown } | undefined;
  for (const endpoint of nodes.endpoints) {
    try {
      const answer = await ask({ ...nodes, endpoints: [endpoint] }, question);
      if (accepts(answer)) return answer;
      last = { answer };
    } catch (error) {
      // A refused answer says more than none.
      last ??= { error };
    }
  }
  if (last === undefined) throw unavailable(nodes, new Map());
  if ("error" in last) throw last.error;
  return last.answer;
}

/** What each endpoint answers by itself; null for one that gave no usable answer. */
export async function askEach<T>(nodes: Nodes, question: Question<T>): Promise<(T | null)[]> {
  const asked = nodes.endpoints.map((endpoint) => ask({ ...nodes, endpoints: [endpoint] }, question));
  const settled = await Promise.allSettled(asked);
  return settled.map((answer) => (answer.status === "fulfilled" ? answer.value : null));
}

/** Who is asked next: awake before resting, then least tried first, then in the order configured. */
function nextEndpoint(
  { endpoints, clock }: Nodes,
  spent: ReadonlyMap<Endpoint, number>,
): Endpoint | undefined {
  const now = clock.now();
  const tries = (endpoint: Endpoint): number => spent.get(endpoint) ?? 0;
  const rest = (endpoint: Endpoint): number => Math.max(endpoint.restsUntil - now, 0);
  return endpoints
    .filter((endpoint) => tries(endpoint) < TRIES_PER_ENDPOINT && rest(endpoint) <= LONGEST_PAUSE_MS)
    .toSorted((a, b) => rest(a) - rest(b) || tries(a) - tries(b))[0];
}

/** The first try at an endpoint waits for nothing but its rest. */
async function pause({ clock, closed }: Nodes, endpoint: Endpoint, tries: number): Promise<void> {
  const backoff = tries === 0 ? 0 : FIRST_PAUSE_MS * 2 ** (tries - 1);
  const ms = Math.max(endpoint.restsUntil - clock.now(), backoff);
  if (ms > 0) await clock.sleep(ms, closed);
}

function unavailable(nodes: Nodes, failures: ReadonlyMap<Endpoint, EndpointFailure>): LedgerUnavailable {
  if (nodes.closed.aborted) return new LedgerUnavailable("the ledger is closed");
  // No `cause`: messages of transports and providers quote URLs, and URLs carry keys.
  const reasons = nodes.endpoints.map(
    (endpoint) => `${endpoint.name}: ${failures.get(endpoint)?.message ?? "asked to be left alone"}`,
  );
  return new LedgerUnavailable(`no Solana node gave a usable answer (${reasons.join("; ")})`);
}
