/** A JSON-RPC endpoint: methods, a name that is safe to log, limits, and health. */
import type { Clock } from "../core/runtime.ts";
import type { EndpointRole } from "../ledger/ledger.ts";
import { boundedFetch } from "./rpc/bounded-fetch.ts";
import { queuedCalls } from "./rpc/call-queue.ts";
import type { CheckedEndpoint } from "./endpoint-options.ts";
import { EndpointFailure } from "./endpoint-failure.ts";
import { newHealth, type EndpointHealth } from "./health.ts";
import { CallRateLimit } from "./rpc/call-rate-limit.ts";
import { postedCalls, publishedPost, singleCalls, type RpcBatchFetch } from "./rpc/rpc-call.ts";
import { RpcNode } from "./rpc/rpc-node.ts";

/** A node, or a provider's pool of nodes behind one URL. */
export interface Endpoint {
  /** Host name only, numbered where several endpoints share it: paths and queries of providers carry API keys. */
  readonly name: string;
  readonly roles: readonly EndpointRole[];
  /** The limits of the provider, null where none is configured. */
  readonly rates: Readonly<Record<"requestsPerSecond" | "sendsPerSecond", number | null>>;
  readonly rpc: RpcNode;
  readonly accountsPerCall: number;
  readonly signaturesPerCall: number;
  /** Whether its rate limit lets a call that is made now leave at once. */
  readonly hasRoom: () => boolean;
  /** Sends that may be signed for; null without a limit. */
  readonly sendPlaces: CallRateLimit | null;
  /** Whether this endpoint alone settles questions about history that other endpoints no longer have. */
  readonly isArchive: boolean;
  readonly health: EndpointHealth;
  /** The chain it serves, once it has answered. */
  genesisHash: string | null;
}

interface EndpointParts {
  readonly clock: Clock;
  readonly closed: AbortSignal;
}

/** Opens the endpoints in their order. Nothing is sent until the first question. */
export function openEndpoints(options: readonly CheckedEndpoint[], parts: EndpointParts): Endpoint[] {
  const seen = new Map<string, number>();
  return options.map((option) => {
    const host = new URL(option.url).hostname;
    const number = (seen.get(host) ?? 0) + 1;
    seen.set(host, number);
    return openEndpoint(option, number === 1 ? host : `${host}#${number}`, parts);
  });
}

function openEndpoint(option: CheckedEndpoint, name: string, { clock, closed }: EndpointParts): Endpoint {
  const { accountsPerCall, callsPerBatch, requestsPerSecond, sendsPerSecond } = option;
  const limitOf = (rate: number | undefined): CallRateLimit | null =>
    rate === undefined ? null : new CallRateLimit(rate, clock, closed);
  const pace = limitOf(requestsPerSecond);
  const postAt = (limit: CallRateLimit | null): RpcBatchFetch =>
    publishedPost(postedCalls(boundedFetch(option, { pace: limit, clock, closed })), name, clock);
  const post = postAt(pace);
  const call = queuedCalls(post, { clock, accountsPerCall, callsPerBatch, pace });
  const send = singleCalls(sendsPerSecond === undefined ? post : postAt(limitOf(sendsPerSecond)));
  return {
    name,
    roles: option.roles,
    rates: { requestsPerSecond: requestsPerSecond ?? null, sendsPerSecond: sendsPerSecond ?? null },
    rpc: new RpcNode(call, { clock, closed }, send),
    accountsPerCall,
    signaturesPerCall: option.signaturesPerCall,
    hasRoom: () => pace?.hasRoom ?? true,
    sendPlaces: limitOf(sendsPerSecond ?? requestsPerSecond),
    isArchive: option.archive,
    health: newHealth(),
    genesisHash: null,
  };
}

export function withRole(endpoints: readonly Endpoint[], role: EndpointRole): readonly Endpoint[] {
  return endpoints.filter(({ roles }) => roles.includes(role));
}

/** Whether an endpoint answers questions; else it takes broadcasts and nothing else. */
export function isAsked({ roles }: Pick<Endpoint, "roles">): boolean {
  return roles.some((role) => role !== "send");
}

/** The chain that an endpoint serves. An endpoint is asked once, and again after it has named another chain than the others. */
export async function chainOf(endpoint: Endpoint): Promise<string> {
  endpoint.genesisHash ??= await endpoint.rpc.getGenesisHash();
  return endpoint.genesisHash;
}

/**
 * Throws `EndpointFailure` when an endpoint that is asked serves a chain other than `genesisHash`. An endpoint that was silent when
 * the chain was determined must report its chain before it is believed. `null`: no chain is known yet.
 */
export async function expectChain(endpoint: Endpoint, genesisHash: string | null): Promise<void> {
  if (genesisHash === null || !isAsked(endpoint) || (await chainOf(endpoint)) === genesisHash) return;
  // One URL may stand for several nodes: the next one may serve the chain.
  endpoint.genesisHash = null;
  throw new EndpointFailure("other_chain", "serves another chain");
}
