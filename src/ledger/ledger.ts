/**
 * The ledger as the payment service sees it: what it asks of a public chain, in words without a chain's own types.
 *
 * Rules of every method: a batch answers in the order it was asked; `null` means *absent, as far as this node knows*;
 * a failure to ask throws `LedgerUnavailable`; unknown is never reported as failed; no method signs anything.
 */
import type { Address } from "../address.ts";

/** How deeply a block is buried. Only `finalized` can never be undone. */
export type Commitment = "processed" | "confirmed" | "finalized";

/** Where and when a read was made: the slot its answer is true at, and the endpoint that gave it. */
export interface Reading {
  readonly slot: number;
  readonly endpoint: string;
}

/** What one owner holds of one mint, summed over all of its token accounts. */
export interface Holding {
  readonly mint: Address;
  /** Raw units, exactly as the chain counts them. */
  readonly amount: bigint;
  readonly decimals: number;
  readonly program: "token" | "token-2022";
  /** The symbol written on the mint itself (Token-2022 metadata), null where there is none that can be read. */
  readonly symbol: string | null;
}

/** Everything one address holds. A never-used address holds 0 lamports and nothing. */
export interface Balances extends Reading {
  readonly lamports: bigint;
  readonly holdings: readonly Holding[];
}

/** What stands at an address. `wallet`: owned by the System program without data, so money sent there can be moved. */
export type AccountKind = "absent" | "wallet" | "token_account" | "mint" | "program" | "other";

/** One leg of a payment: this much, to this owner (never to a token account). */
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

/** What a payment costs in lamports on top of its amount; estimates for a quote are worst case. */
export interface PaymentCost {
  readonly networkFee: bigint;
  /** Rent for token accounts that the payment has to create. */
  readonly rent: bigint;
}

/** An unsigned transaction, ready for the sender's wallet. */
export interface UnsignedPayment extends PaymentCost {
  /** Wire format: one all-zero signature and the message. */
  readonly bytes: Uint8Array;
  readonly lastValidBlockHeight: number;
}

/** Why caller-signed bytes are refused (CONTRACT section 2, INVALID_SIGNATURE). */
export type SignatureFault =
  | "not_base64"
  | "too_large"
  | "undecodable"
  | "unsupported_version"
  | "missing_signature"
  | "bad_signature"
  | "sender_not_signer"
  | "content_mismatch"
  | "instruction_not_allowed"
  | "blockhash_expired"
  | "durable_nonce"
  | "unknown_lookup_table";

/** Caller-signed bytes that were proved to be exactly the declared payment. */
export interface VerifiedPayment {
  /** The bytes as received; these and no re-serialisation are broadcast. */
  readonly bytes: Uint8Array;
  /** First signature, base58: the transaction's identity. */
  readonly signature: string;
  /** SHA-256 of the message, hex: what the chain itself dedupes by. */
  readonly messageHash: string;
  readonly blockhash: string;
  /** Height at which the blockhash was last seen valid + 150: for caller-signed bytes the true one is unknown. */
  readonly lastValidBlockHeight: number;
}

/** What simulation says would happen (SOLANA, "Verifying a caller-signed transaction"). */
export type SimulationFault =
  | {
      readonly kind: "insufficient_balance";
      /** What runs short: the payment itself, the network fee, or rent of an account to be created. */
      readonly component: "amount" | "fee" | "rent";
      /** The mint that runs short, null for SOL. */
      readonly mint: Address | null;
      readonly required: bigint;
      readonly available: bigint;
    }
  | { readonly kind: "recipient_below_rent"; readonly minimum: bigint }
  | {
      readonly kind: "would_fail";
      readonly reason: "no_token_account" | "frozen" | "program_error";
      readonly logs: readonly string[];
    }
  | { readonly kind: "already_processed" }
  | { readonly kind: "blockhash_expired" };

/** What is known of a signature at this moment. A status below `finalized` may vanish on a fork. */
export interface SignatureStatus {
  readonly commitment: Commitment;
  readonly slot: number;
  /** The chain's error as JSON text, null when the transaction succeeded. Counts only when finalized. */
  readonly error: string | null;
}

/** What a landed, finalized transaction was charged and when. */
export interface Receipt {
  readonly slot: number;
  /** Unix seconds; null while the node does not know it. */
  readonly blockTime: number | null;
  /** Lamports the fee payer was charged. */
  readonly fee: bigint;
  readonly error: string | null;
}

/** One set of signed bytes whose fate is asked for. */
export interface Attempt {
  readonly signature: string;
  readonly lastValidBlockHeight: number;
}

/**
 * `landed`: finalized, with or without an error. `dead`: can never land any more, proved by the rule in SOLANA
 * ("Never paying twice" 6). `open`: neither is proved, which is the answer to every doubt.
 */
export type Fate = "open" | "landed" | "dead";

/** The chain's side of a payment service. Every implementation passes the ledger contract suite. */
export interface Ledger {
  /** Identifies the chain; a database belongs to exactly one. Throws `LedgerUnavailable` when endpoints disagree. */
  genesisHash(): Promise<string>;
  /** The newest finalized slot, and who says so: a chain that stands still shows here. */
  position(): Promise<Reading>;
  /** What `owner` holds, at commitment confirmed. */
  balances(owner: Address): Promise<Balances>;
  /** What stands at each address, at commitment confirmed. */
  accountKinds(addresses: readonly Address[]): Promise<readonly AccountKind[]>;
  /** True when the address is a point on the curve, so that a private key for it can exist. Pure. */
  isOnCurve(address: Address): boolean;
  /** What a payment of `recipients` (null: one unknown one, priced as the worst case) would cost its sender. */
  paymentCost(mint: Address | null, recipients: readonly Address[] | null): Promise<PaymentCost>;
  /**
   * Builds the unsigned transaction of a payment over the newest confirmed blockhash. It carries a `reference` of 32
   * bytes that belongs to this payment alone: without one, the chain would take the second of two equal payments within
   * a block for a copy of the first. Throws `RangeError` for an amount outside 1 … 2^64 − 1 and for more recipients than
   * fit one transaction.
   */
  buildPayment(payment: DeclaredPayment, reference: Uint8Array): Promise<UnsignedPayment>;
  /**
   * Proves that base64 text is a transaction signed by `payment.sender` that makes exactly the declared transfers and
   * nothing else that could cost the sender or pay another, and that its blockhash is alive. Broadcasts nothing.
   */
  verifyPayment(
    putativeTransaction: string,
    payment: DeclaredPayment,
  ): Promise<{ verified: VerifiedPayment } | { refused: SignatureFault }>;
  /** Runs verified bytes without sending them; null when they would succeed. */
  simulatePayment(verified: VerifiedPayment, payment: DeclaredPayment): Promise<SimulationFault | null>;
  /**
   * Hands bytes to every endpoint. Resolves when at least one took them or said that it already has them ("already
   * processed" is success); throws `LedgerUnavailable` otherwise, which means *unknown*, never *failed*. Re-sending
   * identical bytes is always safe.
   */
  broadcast(bytes: Uint8Array): Promise<void>;
  /** What is known of each signature, history included; one call per 256. */
  statuses(signatures: readonly string[]): Promise<readonly (SignatureStatus | null)[]>;
  /** The receipt of each finalized transaction; null where the node has not got it (yet). */
  receipts(signatures: readonly string[]): Promise<readonly (Receipt | null)[]>;
  /** The only method that may say `dead`. */
  fates(attempts: readonly Attempt[]): Promise<readonly Fate[]>;
  /** Releases sockets and timers. */
  close(): Promise<void>;
}

/** The ledger could not be asked, or gave no usable answer: nothing is known, nothing may be concluded. */
export class LedgerUnavailable extends Error {
  override readonly name = "LedgerUnavailable";
}
