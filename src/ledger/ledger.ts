/**
 * The ledger as the payment service sees it: what it asks of a public chain, in words without a chain's own types.
 *
 * Rules of every method: a batch answers in the order it was asked; `null` means *absent, as far as this node knows*;
 * a failure to ask throws `LedgerUnavailable`; unknown is never reported as failed; no method signs anything. Each answer
 * is a hint or evidence, as its type says (`Hint`, `Evidence`).
 */
import type { Address } from "../core/address.ts";
import type { Evidence, Hint } from "./belief.ts";
import type { Commitment, Reading } from "./reading.ts";
import type { RoutingLedger } from "./routing.ts";

export type { Commitment, FirmCommitment, Reading } from "./reading.ts";

/** The balance of one owner in one mint, summed over all token accounts of the owner. */
export interface Holding {
  readonly mint: Address;
  /** Raw units, exactly as the chain counts them. */
  readonly amount: bigint;
  readonly decimals: number;
  readonly program: "token" | "token-2022";
  /** The symbol in the mint's metadata (Token-2022); null without readable metadata. */
  readonly symbol: string | null;
}

/** Everything one address holds. A never-used address holds 0 lamports and nothing. */
export interface Balances extends Reading {
  readonly lamports: bigint;
  readonly holdings: readonly Holding[];
}

/**
 * The kind of an account at an address. `wallet`: owned by the System program without data, so money sent there can be
 * moved.
 */
export type AccountKind = "absent" | "wallet" | "token_account" | "mint" | "program" | "other";

/** Mint metadata: decimals, authorities, extensions. */
export interface MintMetadata {
  readonly program: "token" | "token-2022";
  readonly decimals: number;
}

/**
 * The state of an owner's associated token account (Token program). `handed_over`: another owner has it by now.
 * `frozen`: the issuer of the mint has frozen it, so that nothing moves in or out.
 */
export type TokenAccountState = "absent" | "usable" | "frozen" | "handed_over";

/** A leg of a payment: this much, to this owner (never to a token account). */
export interface Transfer {
  readonly recipient: Address;
  /** Base units, 1 … 2^64 − 1. */
  readonly amount: bigint;
}

/** A payment that a wallet is asked to sign, or is said to have signed. `mint` is null for SOL. */
export interface DeclaredPayment {
  readonly sender: Address;
  readonly mint: Address | null;
  readonly decimals: number;
  readonly transfers: readonly Transfer[];
}

/** A payment to be built: in the form that every wallet can show, or as a transaction of version 1, which is larger. */
export interface WantedPayment extends DeclaredPayment {
  readonly transactionVersion?: 1;
}

/** The cost of a payment in lamports, besides its amount; estimates for a quote are worst case. */
export interface PaymentCost {
  readonly networkFee: Evidence<bigint>;
  /** Rent for token accounts that the payment has to create. */
  readonly rent: Evidence<bigint>;
}

/** An unsigned transaction, ready for the sender's wallet. */
export interface UnsignedPayment extends PaymentCost {
  /** Wire format: one all-zero signature and the message. */
  readonly bytes: Uint8Array;
  readonly lastValidBlockHeight: number;
}

/** Why caller-signed bytes are refused: the `reason` of INVALID_SIGNATURE. */
export const SIGNATURE_FAULTS = [
  "not_base64",
  "too_large",
  "undecodable",
  "unsupported_version",
  "missing_signature",
  "bad_signature",
  "sender_not_signer",
  "content_mismatch",
  "instruction_not_allowed",
  "blockhash_expired",
  "durable_nonce",
  "unknown_lookup_table",
  "missing_limits",
] as const;

/** The reason why a signed transaction is refused. */
export type SignatureFault = (typeof SIGNATURE_FAULTS)[number];

/** The window in which a transaction over a blockhash can land. */
export interface LandingWindow {
  /**
   * No block before this slot can contain the transaction: a node whose ledger begins later cannot tell that the
   * transaction never landed.
   */
  readonly firstSlot: number;
  /**
   * The block after this height is the last block that accepts the transaction. For foreign bytes the true height is
   * unknown, and this value is at least as high.
   */
  readonly lastValidBlockHeight: number;
}

/** Caller-signed bytes that were proved to be exactly the declared payment. */
export interface VerifiedPayment extends LandingWindow {
  /** The bytes as received, broadcast without re-serialisation. */
  readonly bytes: Uint8Array;
  /** First signature, base58: the transaction's identity. */
  readonly signature: string;
  /** SHA-256 of the message, hex: the chain's own key for duplicates. */
  readonly messageHash: string;
  readonly blockhash: string;
  /** The accounts that its transfers name and no program reads, base58: the chain lists the transaction under each. */
  readonly references: readonly string[];
}

/** Caller-signed bytes that are the declared payment. */
export interface ExaminedPayment {
  readonly verified: Evidence<VerifiedPayment>;
  /** The kinds of account of those who are paid, in their order. Rejects as `accountKinds` does. */
  readonly payees: Promise<Evidence<readonly AccountKind[]>>;
}

/** A failure predicted by simulation. */
export type SimulationFault =
  | {
      readonly kind: "insufficient_balance";
      /** The missing amount: the payment itself, the network fee, or rent of an account to be created. */
      readonly component: "amount" | "fee" | "rent";
      /** The mint that runs short, null for SOL. */
      readonly mint: Address | null;
      readonly required: bigint;
      readonly available: Hint<bigint>;
    }
  | {
      readonly kind: "recipient_below_rent";
      readonly minimum: bigint;
      /** Index into the payment's transfers; null where the node names an account that is none of theirs. */
      readonly transfer: number | null;
    }
  | {
      readonly kind: "would_fail";
      readonly reason: "no_token_account" | "frozen" | "program_error";
      readonly logs: readonly string[];
    }
  | { readonly kind: "already_processed" }
  | { readonly kind: "blockhash_expired" };

/** The present status of a signature. A status below `finalized` may vanish on a fork. */
export interface SignatureStatus {
  readonly commitment: Commitment;
  readonly slot: number;
  /** The chain's error as JSON text, null when the transaction succeeded. Counts only when finalized. */
  readonly error: string | null;
}

/**
 * How a signature is shown. `confirmed`: enough endpoints show it in a block, confirmed or finalized, without an error; such a
 * block may still vanish. `seen`: an endpoint shows it, at any commitment, failed or not. `absent`: none that answers does.
 */
export type Sighting = "confirmed" | "seen" | "absent";

/** Fee and time of a landed, finalized transaction. */
export interface Receipt {
  readonly slot: number;
  /** Unix seconds; null while the node does not know it. */
  readonly blockTime: number | null;
  /** Lamports the fee payer was charged. */
  readonly fee: bigint;
  readonly error: string | null;
}

/** A set of signed bytes whose fate is asked for, with the facts at the time of its acceptance. */
export interface Attempt extends LandingWindow {
  /** First signature, base58. */
  readonly signature: string;
  /** The signed bytes: by their accounts, another landing of the same message is found. Empty where unknown. */
  readonly bytes: Uint8Array;
  /** SHA-256 of the message, hex: the same message may land under another signature. */
  readonly messageHash: string;
  readonly blockhash: string;
  /** The key that our own transaction carries besides its accounts; null for a transaction built by others. */
  readonly reference: Address | null;
}

/**
 * How endpoints show an attempt. `landed`: finalized, with or without an error, as enough of them report (`WitnessCount`).
 * `confirmed`: enough show it in a block, confirmed or finalized, without an error. `seen`: every answering endpoint shows
 * it, at any commitment, failed or not. `partly`: some of them do. `absent`: none does. An attempt without a landing may
 * still vanish.
 */
export type Standing = "landed" | "confirmed" | "seen" | "partly" | "absent";

/** The word of enough endpoints about an attempt. */
export interface AttemptLook {
  /** Null while fewer endpoints answer than must agree. */
  readonly standing: Standing | null;
  /** The block, and the attempt's own signature unless its sender signed the same message again; null before it has landed. */
  readonly landed: Pick<Landing, "signature" | "slot"> | null;
  /** The chain's error as JSON text of what has landed; null where it succeeded. */
  readonly error: string | null;
  /**
   * `dead`: enough endpoints prove that it can never land, and none contradicts. `unprovable`: past the last valid height, but
   * evidence is missing or contradictory, for example from an endpoint whose ledger begins too late. `open`: it may still
   * land, has landed, or too few endpoints answer.
   */
  readonly death: "open" | "dead" | "unprovable";
}

/** A finalized landing of an attempt. */
export interface Landing extends Receipt {
  /** The attempt's own signature, unless its sender signed the same message again. */
  readonly signature: string;
}

/**
 * Why a signature that an operator named does not settle an attempt. `unknown`: no endpoint shows it finalized.
 * `another_message`: it is another transaction. `contradicted`: an endpoint that has the history of that time does not
 * know it, or two tell different outcomes of it. `failed_alone`: too few endpoints show a failure, and none of them is
 * an archive: an operator names a landing, and not its outcome.
 */
export type LandingRefusal = "unknown" | "another_message" | "contradicted" | "failed_alone";

/** The number of endpoints that must agree before a final fact is believed, and the number that can be asked now. */
export interface WitnessCount {
  readonly needed: number;
  /** Endpoints that answer and are not far behind the best. */
  readonly answering: number;
}

/** A role of an endpoint: answers hints, counts as a witness, takes broadcasts. */
export type EndpointRole = "read" | "witness" | "send";

/** All roles. */
export const ENDPOINT_ROLES: readonly EndpointRole[] = ["read", "witness", "send"];

/** The status of an endpoint, for a person who looks for a fault. An endpoint that only takes broadcasts is not asked. */
export interface EndpointStatus {
  /** Safe to log, as in `Reading`. */
  readonly endpoint: string;
  readonly roles: readonly EndpointRole[];
  /** The limits of its provider, as they are configured; null where none is. */
  readonly requestsPerSecond: number | null;
  readonly sendsPerSecond: number | null;
  /** The chain it serves, null where it did not tell. */
  readonly genesisHash: string | null;
  /** The newest confirmed slot; null when the endpoint did not tell. */
  readonly slot: number | null;
  /** The time of that block, Unix milliseconds; null for an endpoint that did not tell the time. */
  readonly blockTime: number | null;
  /** The ledger's clock when that was read, Unix milliseconds. */
  readonly readAt: number;
  /** The reason why the endpoint gave no usable answer; null after a usable answer. */
  readonly trouble: EndpointTrouble | null;
}

/** A fact that endpoints tell differently. */
export interface EndpointDispute {
  /** The subject of the fact, such as "the rent of an account". */
  readonly subject: string;
  /** Unix milliseconds of the first time that they differed. */
  readonly since: number;
  /** The endpoints that answered, as in `Reading`; empty where they were not told apart. */
  readonly endpoints: readonly string[];
}

/** An endpoint that refuses every read as one too many. */
export interface RateLimitedEndpoint {
  /** As in `Reading`. */
  readonly endpoint: string;
  /** Unix milliseconds of the first such refusal. */
  readonly since: number;
}

/** A temporary restriction by an operator on the endpoints that the ledger believes. */
export interface WitnessRules {
  /**
   * The number of endpoints that are enough for evidence, at most the configured number; null for the ledger's own
   * number. A death (`look`) keeps the ledger's own number.
   */
  readonly witnesses: number | null;
  /**
   * Endpoints out of service, by their names as in `Reading`: they are not asked, and where fewer than the ledger's own
   * number are left, those that are left are enough, except for a death (`look`).
   */
  readonly without: readonly string[];
}

/** Every question that asks a node. */
export type LedgerReads = Omit<
  Ledger,
  | "isOnCurve"
  | "mostRecipients"
  | "markerOf"
  | "tokenAccountOf"
  | "sizeOf"
  | "explainOrder"
  | "restricted"
  | "takeSendPlace"
  | "readLimit"
  | "bidCeiling"
  | "bidFloor"
  | "close"
>;

/** The reads that the endpoints permit, as they are configured. */
export interface ReadLimit {
  /** Reads a second of this process, of all endpoints together; null where one of them names no limit. */
  readonly perSecond: number | null;
  /** Accounts in one read. */
  readonly accounts: number;
  /** The number of endpoints that count as witnesses: a question for several witnesses is put to each. */
  readonly witnesses: number;
}

/**
 * The chain's side of a payment service. Every implementation passes the ledger contract suite. Payments that the service
 * signs itself need `RoutingLedger`.
 */
export interface Ledger extends RoutingLedger {
  /**
   * Identifies the chain; a database belongs to exactly one. Throws `LedgerUnavailable` when endpoints disagree. An
   * endpoint that could not be asked then is not believed later before it has told the same chain.
   */
  genesisHash(): Promise<Evidence<string>>;
  /**
   * Whether the chain takes transactions of version 1, which are larger; true for good once it does. The answer is a minute
   * old at most.
   */
  takesVersion1(): Promise<Evidence<boolean>>;
  /** The newest finalized slot, and which endpoint answered: a chain that stands still shows here. */
  position(): Promise<Hint<Reading>>;
  /**
   * The balances of `owner`, at commitment confirmed. `among`: only these mints of the Token program, which is quick
   * even when an address holds thousands of mints. Default: all mints.
   */
  balances(owner: Address, among?: readonly Address[]): Promise<Hint<Balances>>;
  /** The kind of account at each address, at commitment confirmed. */
  accountKinds(addresses: readonly Address[]): Promise<Evidence<readonly AccountKind[]>>;
  /** The mint at each address, at commitment confirmed; null where there is no initialised mint of a token program. */
  mints(addresses: readonly Address[]): Promise<Hint<readonly (MintMetadata | null)[]>>;
  /**
   * The state of the associated token account of each owner and mint, at commitment confirmed: a frozen one is told before a
   * payment needs the account, and one that is not absent need not be paid for. Lamports that a stranger sent to the address
   * make no account.
   */
  tokenAccountStates(
    accounts: readonly { readonly owner: Address; readonly mint: Address }[],
  ): Promise<Evidence<readonly TokenAccountState[]>>;
  /** True when the address is a point on the curve, so that a private key for it can exist. Pure. */
  isOnCurve(address: Address): boolean;
  /**
   * The most recipients of a payment that is built as a transaction of version 1, whatever accounts have to be made for
   * them. Pure.
   */
  mostRecipients(mint: Address | null): number;
  /**
   * The cost of a payment of `recipients` (null: one unknown recipient, priced as the worst case) for its sender, at
   * prices of the chain that are at most a minute old. May throw `RangeError` for more recipients than one transaction
   * can ever hold.
   */
  paymentCost(mint: Address | null, recipients: readonly Address[] | null): Promise<PaymentCost>;
  /**
   * Builds the unsigned transaction of a payment over a confirmed blockhash, the newest a second ago at most. It carries a `reference` of 32
   * bytes that belongs to this payment alone: without one, the chain would take the second of two equal payments within
   * a block for a copy of the first. Throws `RangeError` for an amount outside 1 … 2^64 − 1 and for more recipients than
   * fit one transaction. Whether the chain takes version 1 is not asked: `takesVersion1`.
   */
  buildPayment(payment: WantedPayment, reference: Uint8Array): Promise<UnsignedPayment>;
  /**
   * Proves that base64 text is a transaction signed by `payment.sender` that makes exactly the declared transfers and
   * nothing else that could cost the sender or pay another, and that its blockhash is alive. Broadcasts nothing. The accounts of
   * those who are paid are read beside the accounts that it names.
   */
  verifyPayment(
    putativeTransaction: string,
    payment: DeclaredPayment,
  ): Promise<ExaminedPayment | { readonly refused: SignatureFault }>;
  /**
   * When bytes over this blockhash can land, for bytes that no marker makes harmless; null where enough endpoints say that
   * the blockhash is dead. Asks for about two seconds where they may not know it yet. Throws `LedgerUnavailable` where that stays unknown, and
   * while endpoints are more than two minutes apart.
   */
  landingWindow(blockhash: string): Promise<Evidence<LandingWindow> | null>;
  /** Runs verified bytes without sending them; null when they would succeed. */
  simulatePayment(
    verified: Evidence<VerifiedPayment>,
    payment: DeclaredPayment,
  ): Promise<Evidence<SimulationFault> | null>;
  /**
   * Hands bytes to every endpoint that takes broadcasts and has not asked to be left alone, at once. Resolves when the first took them or said
   * that it already has them ("already processed" is success); the others go on. Throws `LedgerUnavailable` when none
   * did, which means *unknown*, never *failed*. Re-sending identical bytes is always safe.
   */
  broadcast(bytes: Uint8Array): Promise<void>;
  /**
   * The status of each signature at one endpoint, history included. `null` only means that the endpoint does not know
   * the signature; a status below `finalized` may be gone at the next look.
   */
  statuses(signatures: readonly string[]): Promise<Hint<readonly (SignatureStatus | null)[]>>;
  /**
   * How each signature is shown. Throws `LedgerUnavailable` while fewer endpoints answer than must agree.
   */
  sightings(signatures: readonly string[]): Promise<Evidence<readonly Sighting[]>>;
  /**
   * How attempts stand. The only method that may say `dead`: it asks every endpoint, and a silent one leaves a death `open`.
   * Never rejects because endpoints are silent.
   */
  look(attempts: readonly Attempt[]): Promise<Evidence<readonly AttemptLook[]>>;
  /**
   * How each attempt landed, as soon as enough endpoints say that it is finalized in one block with one outcome; null
   * before, and where one endpoint alone has seen it. The only method whose word ends a payment as made or as failed on the
   * chain. Throws `LedgerUnavailable` while fewer endpoints answer than must agree.
   */
  landings(attempts: readonly Attempt[]): Promise<Evidence<readonly (Landing | null)[]>>;
  /**
   * Like `landings`, for one attempt whose landing an operator vouches for with a signature: one endpoint that shows
   * exactly this message, finalized, is enough, unless another endpoint contradicts. A failure needs the usual number
   * of agreeing endpoints, or an archive: otherwise one endpoint could make a landed payment be paid again.
   */
  namedLanding(
    attempt: Attempt,
    signature: string,
  ): Promise<Evidence<{ readonly landed: Landing } | { readonly refused: LandingRefusal }>>;
  /** The number of endpoints that can agree. Never rejects because endpoints are silent. */
  witnesses(): Promise<Evidence<WitnessCount>>;
  /**
   * The status of each endpoint, in the order configured, including endpoints of a wrong chain. For diagnosis only; no
   * decision uses the answer. Never rejects because endpoints are silent.
   */
  endpoints(): Promise<Hint<readonly EndpointStatus[]>>;
  /**
   * Tells the time of the chain in Unix milliseconds: the time on which enough endpoints with advancing slots have agreed within
   * the last hour. Null while the time is unknown. Asks no node.
   */
  time(): Promise<Evidence<number> | null>;
  /** Lists endpoints that have refused every read for five minutes because they are asked too often. Asks no node. */
  rateLimited(): Promise<Hint<readonly RateLimitedEndpoint[]>>;
  /**
   * Reserves a send slot, for bytes that are yet to be signed (`first`) or for the same bytes again (`again`). False if no
   * broadcast endpoint has a slot within its limit, or all of them rest after a 429. Half of the slots are left to first
   * sends. Asks no node.
   */
  takeSendPlace(kind: "first" | "again"): Promise<boolean>;
  /** Lists present disagreements between endpoints: decisions that depend on a disputed fact wait for agreement. */
  disputes(): Promise<Evidence<readonly EndpointDispute[]>>;
  /**
   * The reads as an operator has restricted them; see `WitnessRules`. Asks nothing by itself. Rejects with `RangeError` unless
   * `witnesses` is null or a whole number from 1, and where no endpoint is left.
   */
  restricted(restriction: WitnessRules): Promise<LedgerReads>;
  /** How much may be read: the looks at deposit addresses keep within it. Left out where nothing is known of it. */
  readonly readLimit?: ReadLimit;
  /** Releases sockets and timers. */
  close(): Promise<void>;
}

/**
 * The kind of an endpoint's failure. `unreachable`: no connection, or it broke. `timeout`: no whole answer in time.
 * `http`: a status other than 2xx. `rpc`: an error in the node's own protocol. `busy`: our own calls fill its rate
 * limit. `resting`: the endpoint asked to be left alone, and was. `behind`: the endpoint does not know the subject of
 * the question yet. `garbled`: an answer of the wrong shape or size. `other_chain`: the endpoint serves a different
 * chain. `differs`: the endpoint's answer contradicts another endpoint.
 */
export type TroubleKind =
  | "unreachable"
  | "timeout"
  | "http"
  | "rpc"
  | "busy"
  | "resting"
  | "behind"
  | "garbled"
  | "other_chain"
  | "differs";

/**
 * The reason why one endpoint gave no usable answer. Safe to log: neither its URL nor its own words, which may quote
 * the URL.
 */
export interface EndpointTrouble {
  /** The endpoint's name, as in `Reading`. */
  readonly endpoint: string;
  readonly kind: TroubleKind;
  /** The HTTP status or the protocol's error code, null where there is none. */
  readonly code: number | null;
  /** A message of a few words. */
  readonly message: string;
}

/**
 * The ledger could not be asked, or gave no usable answer: nothing is known, nothing may be concluded.
 *
 * @example
 * ```ts
 * import { LedgerUnavailable } from "paystate";
 *
 * // In a ledger of your own, when no node answers: what was asked is unknown, and is asked again later.
 * const silence = new LedgerUnavailable("no node answers");
 * console.log(silence.troubles.length); // 0
 * ```
 */
export class LedgerUnavailable extends Error {
  override readonly name = "LedgerUnavailable";
  /** The last failure of each endpoint, in the order configured; empty when the ledger is closed. */
  readonly troubles: readonly EndpointTrouble[];

  constructor(message: string, troubles: readonly EndpointTrouble[] = []) {
    super(message);
    this.troubles = troubles;
  }
}

/**
 * Enough endpoints answered, and they tell different things: nothing is known until they agree, or an operator takes an
 * endpoint out of service.
 */
export class EndpointsDifferError extends LedgerUnavailable {
  constructor(subject: string, endpoints: readonly string[]) {
    const message = "tells something else than another endpoint";
    const troubles = endpoints.map((endpoint): EndpointTrouble => ({
      endpoint,
      kind: "differs",
      code: null,
      message,
    }));
    const named = endpoints.length === 0 ? "" : ` (${endpoints.join(", ")})`;
    super(`nodes differ about ${subject}${named}`, troubles);
  }
}
