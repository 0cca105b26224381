/** The reason why an endpoint gave no usable answer, or why too few did, in words without URLs and keys. */
import { type TroubleKind, LedgerUnavailable, type EndpointTrouble } from "../ledger/ledger.ts";

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

/**
 * The meaning of a failure. `passing`: says nothing about the endpoint, and is over in a moment. `behind`: the node does not know
 * the subject yet. `refused`: the node takes no such question, though another node of a pool may. `ill`: the endpoint
 * does not work as it should.
 */
type Verdict = "passing" | "behind" | "refused" | "ill";

const TOO_MANY_REQUESTS = 429;
/** The same in the body of an answer, at some providers. */
const RATE_LIMITED = -32429;

/** The verdict on each kind of failure: by its HTTP status or JSON-RPC code, else by the kind alone. */
const VERDICTS: Readonly<Record<TroubleKind, { readonly [code: number]: Verdict; readonly else: Verdict }>> =
  {
    unreachable: { else: "ill" },
    timeout: { else: "ill" },
    http: {
      400: "refused",
      413: "refused",
      [TOO_MANY_REQUESTS]: "passing",
      else: "ill",
    },
    rpc: {
      [TOO_MANY_REQUESTS]: "passing",
      [RATE_LIMITED]: "passing",
      // Block not available, status of a block not available yet, minimum context slot not reached.
      [-32004]: "behind",
      [-32014]: "behind",
      [-32016]: "behind",
      // Node unhealthy, internal error.
      [-32005]: "ill",
      [-32603]: "ill",
      else: "refused",
    },
    busy: { else: "passing" },
    resting: { else: "passing" },
    behind: { else: "behind" },
    garbled: { else: "ill" },
    other_chain: { else: "ill" },
    differs: { else: "refused" },
  };

function verdictOf({ kind, facts: { code } }: EndpointFailure): Verdict {
  const verdicts = VERDICTS[kind];
  return (code === undefined ? undefined : verdicts[code]) ?? verdicts.else;
}

/**
 * How often one question is asked of an endpoint that fails like this. One URL may stand for several nodes, so an odd answer
 * of one of them is asked again, too.
 */
export function triesWith(failure: EndpointFailure): number {
  const { kind, facts } = failure;
  // A second timeout would double the wait of a caller who has other endpoints; what is too large stays so; and a node that
  // is behind was asked until it should have caught up.
  if (kind === "timeout" || facts.isTooLarge === true || isBehind(failure)) return 1;
  if (isOdd(failure)) return 2;
  return kind === "http" && isAboutQuestion(failure) ? 1 : MAX_TRIES;
}

/** Whether another node behind the same URL may answer at once. */
export function isOdd(failure: EndpointFailure): boolean {
  const { kind } = failure;
  return kind === "garbled" || kind === "other_chain" || (kind === "rpc" && verdictOf(failure) === "refused");
}

/** Enough for a broken connection or a restarting proxy; anything longer is a durable timer's business. */
export const MAX_TRIES = 3;

/** True for the failure of a node that does not know yet what it was asked about. */
export function isBehind(error: unknown): error is EndpointFailure {
  return error instanceof EndpointFailure && verdictOf(error) === "behind";
}

/** True when the failure says something about the endpoint, not about the question or about how often we ask. */
export function isIllness(failure: EndpointFailure): boolean {
  return verdictOf(failure) === "ill";
}

/** Whether the question may be the reason: in another form, such as in parts, the endpoint may answer it. */
export function isAboutQuestion(failure: EndpointFailure): boolean {
  const { kind, facts } = failure;
  if (kind === "http") return !isRateLimit(failure) && (facts.code ?? 0) < HTTP_SERVER_ERROR;
  return kind === "garbled" || verdictOf(failure) === "refused";
}

const HTTP_SERVER_ERROR = 500;

/** True when a provider says that it is asked too often, in the status or in the body. */
export function isRateLimit({ facts: { code } }: EndpointFailure): boolean {
  return code === TOO_MANY_REQUESTS || code === RATE_LIMITED;
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

export function answerTooLarge(): EndpointFailure {
  return new EndpointFailure("garbled", "an answer that is too large", { isTooLarge: true });
}

/** True for the failure of an answer with more bytes than it may have. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof EndpointFailure && error.facts.isTooLarge === true;
}

/** Throws when an answer's shape is not what was asked for: a node that garbles an answer is not believed. */
export function expectShape(holds: boolean, what: string): asserts holds {
  if (!holds) throw new EndpointFailure("garbled", `an answer of the wrong shape (${what})`);
}

/** The trouble of an endpoint; an endpoint without a failure was not asked, because it wants to be left alone. */
export function troubleOf(
  { name }: { readonly name: string },
  failure: EndpointFailure | undefined,
): EndpointTrouble {
  return {
    endpoint: name,
    kind: failure?.kind ?? "resting",
    code: failure?.facts.code ?? null,
    message: failure?.message ?? "asked to be left alone",
  };
}

/** Has no `cause`: messages of transports and providers quote URLs, and URLs carry keys. */
export function unavailable(closed: AbortSignal, troubles: readonly EndpointTrouble[]): LedgerUnavailable {
  if (closed.aborted) return new LedgerUnavailable("the ledger is closed");
  const reasons = troubles.map(({ endpoint, message }) => `${endpoint}: ${message}`);
  return new LedgerUnavailable(`no Solana node gave a usable answer (${reasons.join("; ")})`, troubles);
}

/** Some answered, but not as many as must agree. */
export function tooFewWitnesses(
  { witnesses, closed }: { readonly witnesses: number; readonly closed: AbortSignal },
  answered: number,
  errors: readonly unknown[],
): LedgerUnavailable {
  const { message, troubles } = allUnavailable(closed, errors);
  if (closed.aborted || answered === 0) return new LedgerUnavailable(message, troubles);
  const reasons = troubles.map((trouble) => `${trouble.endpoint}: ${trouble.message}`).join("; ");
  return new LedgerUnavailable(
    `${answered} of the ${witnesses} Solana nodes that must agree answered (${reasons})`,
    troubles,
  );
}

export function allUnavailable(closed: AbortSignal, errors: readonly unknown[]): LedgerUnavailable {
  const troubles = errors.flatMap((error) => (error instanceof LedgerUnavailable ? error.troubles : []));
  return unavailable(closed, troubles);
}
