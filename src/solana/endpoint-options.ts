/** Options of an endpoint, as providers sell them. */
import { z } from "zod";
import { functionOption, optionsWith } from "../core/options.ts";
import { parseUrl } from "../core/parse-url.ts";
import { ENDPOINT_ROLES, type ReadLimit } from "../ledger/ledger.ts";
import type { Fetch } from "./rpc/bounded-fetch.ts";
import { MAX_ACCOUNTS_PER_CALL, MAX_CALLS_PER_BATCH, MAX_SIGNATURES_PER_CALL } from "./rpc/rpc-call.ts";

/** `fetch` refuses URLs with a user name, and would say so only when first asked. */
function isEndpointUrl(text: string): boolean {
  const parts = parseUrl(text);
  return parts !== null && /^https?:$/.test(parts.protocol) && parts.username === "" && parts.password === "";
}

function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    return new Headers(headers) instanceof Headers;
  } catch {
    return false;
  }
}

/** Looked up at each call: a host may replace it. */
const standardFetch: Fetch = (input, init) => globalThis.fetch(input, init);

const upTo = (most: number): z.ZodDefault<z.ZodInt> => z.int().min(1).max(most).default(most);

const endpointSettings = optionsWith({
  url: z.string().refine(isEndpointUrl, { error: "expected an http(s) URL without user name" }),
  /** The standard `fetch` when left out; a local chain's own `fetch` needs no port. */
  fetch: functionOption<Fetch>().default(() => standardFetch),
  /**
   * The roles of the endpoint. `read`: answers that are hints. `witness`: its word counts as evidence. `send`: it takes
   * broadcasts. A relay that takes nothing but transactions has the role `send` alone and is asked nothing else. Default: all
   * three.
   */
  roles: z
    .array(z.enum(ENDPOINT_ROLES))
    .min(1, { error: "expected at least one role" })
    .readonly()
    .default(ENDPOINT_ROLES),
  /**
   * The rate limit of this process at the provider, kept by waiting. A second's worth of requests may be sent at
   * once. Several processes share a provider's limit: give each process its part. Default: no limit.
   */
  requestsPerSecond: z.number().positive().optional(),
  /** The same for broadcasts, where the provider counts them apart. Left out, they count as requests. */
  sendsPerSecond: z.number().positive().optional(),
  /** From the first byte sent to the last byte read, in milliseconds, 100 to 60,000. Default 8,000. */
  timeoutMs: z.int().min(100).max(60_000).default(8_000),
  /** Headers of each request, such as an API key. Never logged or shown. */
  headers: z
    .record(z.string(), z.string())
    .refine(areHeaders, { error: "expected names and values of HTTP headers" })
    .default({}),
  /** Accounts in one getMultipleAccounts call, 1–100; 100 when left out. Some providers allow fewer. */
  accountsPerCall: upTo(MAX_ACCOUNTS_PER_CALL),
  /** Signatures in one getSignatureStatuses call, 1–256; 256 when left out. */
  signaturesPerCall: upTo(MAX_SIGNATURES_PER_CALL),
  /**
   * Calls in one HTTP request at most, 1–100; 1 when left out. With more, different reads of one moment go to the
   * endpoint as a batch of JSON-RPC 2.0. Not all providers accept batches, and most count and bill each call.
   */
  callsPerBatch: z.int().min(1).max(MAX_CALLS_PER_BATCH).default(1),
  /**
   * True for a node with the chain's whole history that you vouch for. Where every other endpoint that answers has no
   * history of the time in question, the word of this one is enough to settle a transaction. False when left out.
   */
  archive: z.boolean().default(false),
});

/** An endpoint: its URL with roles, headers and the limits of its provider. @interface */
export type EndpointSettings = z.input<typeof endpointSettings>;

/** An endpoint: a URL, or a URL with its settings. */
export type EndpointOptions = string | EndpointSettings;

/** Settings with their defaults. */
export type CheckedEndpoint = z.output<typeof endpointSettings>;

const endpointOption = z.preprocess(
  (option) => (typeof option === "string" ? { url: option } : option),
  endpointSettings,
);

/** The option `endpoints`: every URL once, and at least one endpoint for each role. */
export const endpointsOption = z
  .array(endpointOption)
  .min(1, { error: "expected at least one endpoint" })
  .superRefine((endpoints, context) => {
    const urls = endpoints.map((endpoint) => parseUrl(endpoint.url)?.href);
    for (const [index, each] of urls.entries()) {
      if (each === undefined || urls.indexOf(each) === index) continue;
      // It would be its own second witness of a transaction's death.
      context.addIssue({ code: "custom", path: [index, "url"], message: "expected every endpoint once" });
    }
    for (const role of ENDPOINT_ROLES) {
      if (endpoints.length === 0 || endpoints.some(({ roles }) => roles.includes(role))) continue;
      context.addIssue({ code: "custom", message: `expected one with the role \`${role}\` in its roles` });
    }
  });

/** All endpoints that answer reads together: a read goes to the first that has room for it. */
export function readLimitOf(endpoints: readonly CheckedEndpoint[]): ReadLimit {
  const readers = endpoints.filter(({ roles }) => roles.includes("read"));
  const perSecond = readers.reduce<number | null>(
    (sum, { requestsPerSecond: rate = null }) => (sum === null || rate === null ? null : sum + rate),
    0,
  );
  return {
    perSecond,
    accounts: Math.min(...readers.map(({ accountsPerCall }) => accountsPerCall)),
    witnesses: endpoints.filter(({ roles }) => roles.includes("witness")).length,
  };
}
