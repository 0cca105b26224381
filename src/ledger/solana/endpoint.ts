/** One JSON-RPC endpoint: its own connection, a name that is safe to log, and until when it wants to be left alone. */
import { Connection } from "@solana/web3.js";
import type { Clock } from "../../runtime.ts";
import { boundedFetch, type Fetch } from "./bounded-fetch.ts";
import { paceOf } from "./pace.ts";

/** Where a node is asked: a URL, or a URL with how to reach it. */
export type EndpointOption =
  | string
  | {
      readonly url: string;
      /** The standard `fetch` when left out; a local chain's own `fetch` needs no port. */
      readonly fetch?: Fetch;
      /** The provider's limit, kept by waiting. Not limited when left out. */
      readonly requestsPerSecond?: number;
    };

/** One node, or one provider's pool of nodes behind one URL. */
export interface Endpoint {
  /** Host name only: paths and queries of providers carry API keys. */
  readonly name: string;
  readonly connection: Connection;
  /** Unix milliseconds before which the endpoint asked (HTTP 429) not to be asked again. */
  restsUntil: number;
  /** The chain it serves, once it has told. */
  genesisHash: string | null;
}

/** Opens an endpoint. Nothing is sent until the first question. */
export function openEndpoint(option: EndpointOption, clock: Clock, closed: AbortSignal): Endpoint {
  const { url, fetch, requestsPerSecond } = typeof option === "string" ? { url: option } : option;
  const pace = requestsPerSecond === undefined ? null : paceOf(requestsPerSecond, clock, closed);
  const reach = boundedFetch(fetch ?? ((input, init) => globalThis.fetch(input, init)), pace, clock, closed);
  const connection = new Connection(url, {
    fetch: reach,
    // Its own retry blocks a call for 7.5 s; ours moves on to another endpoint.
    disableRetryOnRateLimit: true,
    httpAgent: false,
  });
  return { name: new URL(url).hostname, connection, restsUntil: 0, genesisHash: null };
}
