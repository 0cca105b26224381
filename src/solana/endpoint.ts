/** A JSON-RPC endpoint: methods, a name that is safe to log, limits, and health. */
import type { Clock } from "../runtime.ts";
import { boundedFetch, type Fetch } from "./rpc/bounded-fetch.ts";
import { batchedCalls } from "./rpc/batched-calls.ts";
import { MAX_ACCOUNTS_PER_CALL, MAX_SIGNATURES_PER_CALL } from "./rpc/call-limits.ts";
import { EndpointFailure } from "./endpoint-failure.ts";
import { newHealth, type EndpointHealth } from "./health.ts";
import { CallRateLimit } from "./rpc/call-rate-limit.ts";
import { postedCalls } from "./rpc/posted-calls.ts";
import { publishedPost } from "./rpc/published-post.ts";
import { joinedCalls } from "./rpc/joined-calls.ts";
import { singleCalls } from "./rpc/rpc-call.ts";
import { RpcNode } from "./rpc/rpc-node.ts";

/** An endpoint: a URL, or a URL with its headers and its provider's limits. */
export type EndpointOptions =
  | string
  | {
      readonly url: string;
      /** The standard `fetch` when left out; a local chain's own `fetch` needs no port. */
      readonly fetch?: Fetch;
      /**
       * The rate limit of this process at the provider, kept by waiting. A second's worth of requests may be sent at
       * once. Several processes share a provider's limit: give each process its part. Default: no limit.
       */
      readonly requestsPerSecond?: number;
      /** Accounts in one getMultipleAccounts call, 1–100; 100 when left out. Some providers allow fewer. */
      readonly accountsPerCall?: number;
      /** Signatures in one getSignatureStatuses call, 1–256; 256 when left out. */
      readonly signaturesPerCall?: number;
      /**
       * Calls in one HTTP request at most, 1–100; 1 when left out. With more, different reads of one moment go to the
       * endpoint as a batch of JSON-RPC 2.0. Not all providers accept batches, and most count and bill each call.
       */
      readonly callsPerBatch?: number;
      /**
       * True for a node with the chain's whole history that you vouch for. Where every other endpoint that answers has no
       * history of the time in question, the word of this one is enough to settle a transaction. False when left out.
       */
      readonly archive?: boolean;
    };

/** A node, or a provider's pool of nodes behind one URL. */
export interface Endpoint {
  /** Host name only, numbered where several endpoints share it: paths and queries of providers carry API keys. */
  readonly name: string;
  readonly rpc: RpcNode;
  readonly accountsPerCall: number;
  readonly signaturesPerCall: number;
  /** Whether its rate limit lets a call that is made now leave at once. */
  readonly hasRoom: () => boolean;
  /** Whether this endpoint alone settles questions about history that other endpoints no longer have. */
  readonly isArchive: boolean;
  readonly health: EndpointHealth;
  /** The chain it serves, once it has answered. */
  genesisHash: string | null;
}

/** Dependencies of endpoints. */
interface EndpointParts {
  readonly clock: Clock;
  readonly closed: AbortSignal;
}

/** Opens the endpoints in their order. Nothing is sent until the first question. */
export function openEndpoints(
  options: readonly EndpointOptions[],
  { clock, closed }: EndpointParts,
): Endpoint[] {
  const seen = new Map<string, number>();
  return options.map((option) => {
    const endpoint = typeof option === "string" ? { url: option } : option;
    const host = new URL(endpoint.url).hostname;
    const number = (seen.get(host) ?? 0) + 1;
    seen.set(host, number);
    const { requestsPerSecond } = endpoint;
    const pace = requestsPerSecond === undefined ? null : new CallRateLimit(requestsPerSecond, clock, closed);
    const name = number === 1 ? host : `${host}#${number}`;
    return openEndpoint(endpoint, name, { pace, clock, closed });
  });
}

function openEndpoint(
  option: Exclude<EndpointOptions, string>,
  name: string,
  { pace, clock, closed }: EndpointParts & { readonly pace: CallRateLimit | null },
): Endpoint {
  const { url, fetch = (input, init) => globalThis.fetch(input, init) } = option;
  const { accountsPerCall = MAX_ACCOUNTS_PER_CALL, callsPerBatch = 1 } = option;
  const health = newHealth();
  const posted = postedCalls(boundedFetch(fetch, { url, pace, clock, closed }));
  const post = publishedPost(posted, name, clock);
  const call = callsPerBatch === 1 ? singleCalls(post) : batchedCalls(post, { clock, callsPerBatch, pace });
  return {
    name,
    rpc: new RpcNode(joinedCalls(call, { clock, accountsPerCall })),
    accountsPerCall,
    signaturesPerCall: option.signaturesPerCall ?? MAX_SIGNATURES_PER_CALL,
    hasRoom: () => pace?.hasRoom ?? true,
    isArchive: option.archive ?? false,
    health,
    genesisHash: null,
  };
}

/** The chain an endpoint serves; asked once, unless it was another one than that of the others. */
export async function chainOf(endpoint: Endpoint): Promise<string> {
  endpoint.genesisHash ??= await endpoint.rpc.getGenesisHash();
  return endpoint.genesisHash;
}

/**
 * Throws `EndpointFailure` when the endpoint serves a chain other than `genesisHash`. An endpoint that was silent when
 * the chain was determined must report its chain before it is believed. `null`: no chain is known yet.
 */
export async function expectChain(endpoint: Endpoint, genesisHash: string | null): Promise<void> {
  if (genesisHash === null || (await chainOf(endpoint)) === genesisHash) return;
  // One URL may stand for several nodes: the next one may serve the chain.
  endpoint.genesisHash = null;
  throw new EndpointFailure("other_chain", "serves another chain");
}
