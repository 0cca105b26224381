/** Asks nodes: a question is retried and moved to the next endpoint until one answers, or none is left. Sends bytes to all of them. */
import {
  asEndpointFailure,
  isOdd,
  MAX_TRIES,
  triesWith,
  EndpointFailure,
  troubleOf,
  unavailable,
  allUnavailable,
} from "./endpoint-failure.ts";
import { expectChain, withRole, type Endpoint } from "./endpoint.ts";
import { isAvoided, noteAnswer, noteFailure, restOf, type CallKind, type HealthWatch } from "./health.ts";
import type { Hint } from "../ledger/belief.ts";
import type { DisputeList } from "../ledger/disputes.ts";
import { heard } from "../ledger/heard.ts";
import type { FeePolicy } from "./fee-policy.ts";
import type { AnswerCache } from "./answer-cache.ts";

/** Everything that asks nodes: endpoints, rules and memories. */
export interface NodeContext extends HealthWatch {
  /** The preferred one first. */
  readonly endpoints: readonly Endpoint[];
  /** The number of endpoints that must agree before a final answer is believed. */
  readonly witnesses: number;
  /** The configured number, which an operator cannot lower: so many must prove a death. */
  readonly ownWitnesses: number;
  /**
   * The proof that a transaction never landed: `statuses` of its signature, or all `blocks` that could contain the
   * transaction.
   */
  readonly deathProof: DeathProof;
  /** The bids of our own transactions. */
  readonly fees: FeePolicy;
  /** The walks over the blocks that could hold a transaction, by endpoint and signature, the oldest walk first. */
  readonly walks: Map<string, BlockWalkState>;
  /** The chain that the endpoints were found to serve, null until they were asked for it. */
  readonly chain: { genesisHash: string | null };
  /** Aborted when the ledger is closed. */
  readonly closed: AbortSignal;
  readonly remembered: AnswerCache;
  /** Blockhashes handed out for transactions, each with the slot at which it was the newest; oldest first. */
  readonly handedOut: Map<string, number>;
  /** Dead blockhashes with their witnesses, oldest first. */
  readonly deadBlockhashes: Set<string>;
  /** Facts that endpoints disagree about. */
  readonly disputes: DisputeList;
  /** Signers of finalized transactions, by signature, the longest unused first. */
  readonly signers: Map<string, readonly string[]>;
}

/** A question to a node: one call, or several that must be answered by the same node. */
export type EndpointCall<T> = (endpoint: Endpoint) => Promise<T>;

// Before an endpoint's second try; twice that before its third.
const FIRST_PAUSE_MS = 250;
// In all, for one question. A caller of the API is waiting: an endpoint that wants to be left alone for longer is not
// waited for.
const MAX_WAIT_MS = 4_000;

/** Tries and waiting time that a question has used so far. */
interface Spent {
  readonly of: CallKind;
  readonly tries: Map<Endpoint, number>;
  waitedMs: number;
}

/** The answer of the first endpoint that answers: a hint. Throws as `firstAnswer` does. */
export async function ask<T>(nodes: NodeContext, question: EndpointCall<T>): Promise<Hint<T>> {
  const readers = withRole(nodes.endpoints, "read");
  return heard<T>(await firstAnswer({ ...nodes, endpoints: readers }, question));
}

/** One endpoint's answer, whatever its roles: a hint. Throws as `firstAnswer` does. */
export async function askOne<T>(
  nodes: NodeContext,
  endpoint: Endpoint,
  question: EndpointCall<T>,
): Promise<Hint<T>> {
  return heard<T>(await firstAnswer({ ...nodes, endpoints: [endpoint] }, question));
}

/**
 * The first usable answer, for a file that says by itself whose word it is. Throws `LedgerUnavailable` when every endpoint was tried and none gave one: then nothing is
 * known. How often the same endpoint is asked again depends on its failure.
 */
export async function firstAnswer<T>(
  nodes: NodeContext,
  question: EndpointCall<T>,
  of: CallKind = "reads",
): Promise<T> {
  const spent: Spent = { of, tries: new Map(), waitedMs: 0 };
  const failures = new Map<Endpoint, EndpointFailure>();
  for (;;) {
    const endpoint = nextEndpoint(nodes, spent);
    if (endpoint === undefined) break;
    const tries = triesOf(spent, endpoint);
    try {
      await pause(nodes, endpoint, { spent, last: failures.get(endpoint) });
      nodes.closed.throwIfAborted();
      await expectChain(endpoint, nodes.chain.genesisHash);
      const answer = await question(endpoint);
      noteAnswer(endpoint, of, nodes);
      return answer;
    } catch (error) {
      const failure = asEndpointFailure(error);
      failures.set(endpoint, failure);
      spent.tries.set(endpoint, tries + 1 < triesWith(failure) ? tries + 1 : MAX_TRIES);
      // A call that closing cut off says nothing about the endpoint.
      if (nodes.closed.aborted) break;
      noteFailure(endpoint, { failure, of }, nodes);
    }
  }
  const troubles = nodes.endpoints.map((endpoint) => troubleOf(endpoint, failures.get(endpoint)));
  throw unavailable(nodes.closed, troubles);
}

/**
 * The next endpoint to ask: well before avoided, awake before resting, then least tried first, then in the order
 * configured.
 */
function nextEndpoint({ endpoints, clock }: NodeContext, spent: Spent): Endpoint | undefined {
  const now = clock.now();
  const patience = MAX_WAIT_MS - spent.waitedMs;
  const preference = byPreference(now, spent.of);
  return endpoints
    .filter((each) => triesOf(spent, each) < MAX_TRIES && restOf(each, now, spent.of) <= patience)
    .toSorted((a, b) => preference(a, b) || triesOf(spent, a) - triesOf(spent, b))[0];
}

/** Orders endpoints: well before avoided, awake before resting. */
export function byPreference(now: number, of: CallKind): (a: Endpoint, b: Endpoint) => number {
  return (a, b) => Number(isAvoided(a)) - Number(isAvoided(b)) || restOf(a, now, of) - restOf(b, now, of);
}

function triesOf(spent: Spent, endpoint: Endpoint): number {
  return spent.tries.get(endpoint) ?? 0;
}

/** The first try at an endpoint, and one after an odd answer, waits for nothing but its rest. */
async function pause(
  { clock, closed }: NodeContext,
  endpoint: Endpoint,
  { spent, last }: { readonly spent: Spent; readonly last: EndpointFailure | undefined },
): Promise<void> {
  const tries = triesOf(spent, endpoint);
  const backoff = last === undefined || isOdd(last) ? 0 : FIRST_PAUSE_MS * 2 ** (tries - 1);
  const ms = Math.max(restOf(endpoint, clock.now(), spent.of), backoff);
  spent.waitedMs += ms;
  if (ms > 0) await clock.sleep(ms, closed);
}

/** The kind of proof that a transaction never landed. */
export type DeathProof = "statuses" | "blocks";

/** The progress of a walk through the blocks of one endpoint: the last block that was read. */
export interface BlockWalkState {
  readonly slot: number;
  readonly blockhash: string;
  readonly height: number;
}

/**
 * Sends the bytes to every endpoint that takes broadcasts at once, one that lags or fails included, and resolves with the first that took them;
 * the others go on. No preflight: the bytes were simulated before, and a node that lags would refuse what the network
 * accepts. No retries by the node: re-sending is ours, so that it stops when the transaction is dead.
 */
export async function broadcast(nodes: NodeContext, bytes: Uint8Array): Promise<void> {
  const sent = withRole(nodes.endpoints, "send").map((endpoint) =>
    firstAnswer({ ...nodes, endpoints: [endpoint] }, send(bytes), "sends"),
  );
  try {
    await Promise.any(sent);
  } catch (error) {
    throw allUnavailable(nodes.closed, error instanceof AggregateError ? error.errors : [error]);
  }
}

function send(bytes: Uint8Array): EndpointCall<void> {
  return async ({ rpc }) => {
    try {
      await rpc.sendTransaction(bytes);
    } catch (error) {
      if (!isAlreadyProcessed(error)) throw error;
    }
  };
}

/** Nodes name the transaction error `AlreadyProcessed` in the error's data; proxies in front of them keep the words. */
function isAlreadyProcessed(error: unknown): boolean {
  if (!(error instanceof EndpointFailure) || error.kind !== "rpc") return false;
  const { data, words = "" } = error.facts;
  const named = typeof data === "object" && data !== null && "err" in data && data.err === "AlreadyProcessed";
  return named || words.includes("already been processed");
}

/** See `Ledger.takeSendPlace`: bytes live for a minute, and a queue is no place. Asks no node. */
export function takeSendPlace(nodes: NodeContext, kind: "first" | "again"): boolean {
  const now = nodes.clock.now();
  return withRole(nodes.endpoints, "send").some((endpoint) => {
    if (restOf(endpoint, now, "sends") > 0) return false;
    const { sendPlaces } = endpoint;
    // Half of the places are left to first sends.
    return sendPlaces === null || sendPlaces.take(kind === "first" ? 0 : Math.floor(sendPlaces.burst / 2));
  });
}
