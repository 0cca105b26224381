/** The reason why an endpoint gave no usable answer, in words without its URL or keys. */
import type { TroubleKind } from "../ledger/ledger.ts";

/** Facts about a failure; `code` is the HTTP status or the JSON-RPC error code. */
interface FailureFacts {
  readonly code?: number;
  readonly data?: unknown;
  /** The node's own words. Never passed on: they may quote URLs. */
  readonly words?: string;
  /** The pause that the endpoint has asked for. */
  readonly retryAfterMs?: number;
  /** More bytes than an answer may have: in a batch, another call's answer may be the reason. */
  readonly isTooLarge?: true;
}

/** A failed question to one endpoint. Stays inside the Solana ledger: callers see `LedgerUnavailable`. */
export class EndpointFailure extends Error {
  override readonly name = "EndpointFailure";
  readonly kind: TroubleKind;
  readonly facts: FailureFacts;

  constructor(kind: TroubleKind, message: string, facts: FailureFacts = {}) {
    super(message);
    this.kind = kind;
    this.facts = facts;
  }
}

const HTTP_REQUEST_TIMEOUT = 408;
const HTTP_TOO_MANY_REQUESTS = 429;
const HTTP_SERVER_ERROR = 500;
// JSON-RPC codes of a node that may answer the same question a moment later: internal error, block not available,
// node unhealthy or behind, minimum context slot not reached, and the 429 some providers put into the body.
const PASSING_RPC_CODES: ReadonlySet<number> = new Set([
  -32603,
  -32004,
  -32005,
  -32016,
  HTTP_TOO_MANY_REQUESTS,
]);

/** True when asking the same endpoint again soon may help; otherwise only another endpoint can. */
export function isPassing(failure: EndpointFailure): boolean {
  const { code } = failure.facts;
  switch (failure.kind) {
    case "unreachable":
    case "busy":
    case "resting":
    case "behind":
      return true;
    case "http":
      return (
        code === HTTP_REQUEST_TIMEOUT || code === HTTP_TOO_MANY_REQUESTS || (code ?? 0) >= HTTP_SERVER_ERROR
      );
    case "rpc":
      return code !== undefined && PASSING_RPC_CODES.has(code);
    // A second timeout would double the wait of a caller who has other endpoints; a garbled answer stays garbled.
    case "timeout":
    case "garbled":
    case "other_chain":
    case "differs":
      return false;
  }
}

/** True when the failure says something about the endpoint, not about the question or about how often we ask. */
export function isIllness(failure: EndpointFailure): boolean {
  switch (failure.kind) {
    case "unreachable":
    case "timeout":
    case "http":
    case "garbled":
    case "other_chain":
      return true;
    case "rpc":
      return isPassing(failure);
    case "busy":
    case "resting":
    case "behind":
    case "differs":
      return false;
  }
}

/** True when a provider says that it is asked too often, in the status or in the body. */
export function isRateLimit({ facts }: EndpointFailure): boolean {
  return facts.code === HTTP_TOO_MANY_REQUESTS;
}

/**
 * Converts the error of a question into a failure. An error of a different type means that the answer could not be
 * parsed.
 */
export function asEndpointFailure(error: unknown): EndpointFailure {
  if (error instanceof EndpointFailure) return error;
  const reader = error instanceof Error ? error.constructor.name : typeof error;
  return new EndpointFailure("garbled", `an answer of the wrong shape (${reader})`);
}

/** An answer that is read no further. */
export function answerTooLarge(): EndpointFailure {
  return new EndpointFailure("garbled", "an answer that is too large", { isTooLarge: true });
}

/** Throws when an answer's shape is not what was asked for: a node that garbles an answer is not believed. */
export function expectShape(holds: boolean, what: string): asserts holds {
  if (!holds) throw new EndpointFailure("garbled", `an answer of the wrong shape (${what})`);
}
