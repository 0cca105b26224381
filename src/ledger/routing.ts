/**
 * The ledger's side of payments that the service itself signs: out of one-time deposit addresses, and from its desk.
 * The rules of `Ledger` hold here too: nothing signs, batches keep their order, a failure to ask throws
 * `LedgerUnavailable`, and unknown is never reported as failed.
 */
import type { Address } from "../core/address.ts";
import type { Evidence, Hint } from "./belief.ts";
import type { ForeignSwap, ForeignSwapFault } from "./foreign-swap.ts";
import type { OrderFault } from "./order-fault.ts";
import type { OrderHistory, OrderHistoryQuery, OrderQuery, OrderReading } from "./order-reading.ts";
import type { Commitment, FirmCommitment, Reading } from "./reading.ts";

/** The balances of an address: lamports, and raw units of each mint asked for. */
export interface Funds {
  /** 0 when a plain transfer could not move the lamports: an account with data, or of a program other than System. */
  readonly lamports: bigint;
  /**
   * In the order of the mints asked for. 0 for an absent account, and for an account given to a new owner; a frozen
   * balance counts, although it cannot move.
   */
  readonly tokens: readonly bigint[];
}

/** Balances of many addresses in one block. */
export interface FundsReading extends Reading {
  /** Unix seconds of the block. */
  readonly blockTime: number;
  readonly funds: readonly Funds[];
}

/** An account, and the asset to look for in the account. */
export interface AssetAccount {
  readonly address: Address;
  /** Null for lamports. */
  readonly mint: Address | null;
}

/** The token programs of mints: the original one, and Token-2022. */
export const TOKEN_PROGRAMS: readonly TokenProgram[] = ["token", "token-2022"];

/** A program of tokens. */
export type TokenProgram = "token" | "token-2022";

/**
 * A move of a transaction, in the order of its instructions.
 *
 * `buy` makes the *marker* of `base` and `seed`: an account at an address derived of both, and of an owner that no key and
 * no program can have; its data length is `length`, its rent `lamports`. Among all transactions that buy the same marker, one
 * succeeds, for ever. `empty` fails unless nothing is left at `address`.
 *
 * `transfer` pays from one owner to another, between their associated token accounts when there is a mint, or from
 * another token account of the payer's, `fromAccount`; with an `accountPayer` the recipient's account is created,
 * idempotently, at that payer's cost; the whole fails if its owner has handed that account over.
 *
 * `open` makes an owner's associated account of a mint at the payer's cost, unless it is there.
 *
 * `close` closes an owner's empty token account, the associated one or `account`, its rent going to `to`. Both are of the
 * first token program where they name no `program`; a Token-2022 mint that calls a program of its own at each transfer
 * cannot be moved.
 */
export type Move =
  | {
      readonly does: "buy";
      readonly base: Address;
      readonly seed: string;
      /** Bytes of data, which say what became of the chunk. */
      readonly length: number;
      readonly payer: Address;
      /** The rent, 1 lamport at least. */
      readonly lamports: bigint;
    }
  | { readonly does: "empty"; readonly address: Address; readonly payer: Address }
  | { readonly does: "open"; readonly mint: Address; readonly owner: Address; readonly payer: Address }
  | {
      readonly does: "transfer";
      /** Null for SOL. */
      readonly mint: Address | null;
      readonly decimals: number;
      readonly from: Address;
      /** A token account of `from` other than the associated one. */
      readonly fromAccount?: Address;
      readonly program?: TokenProgram;
      readonly to: Address;
      /** Base units, 1 … 2^64 − 1. */
      readonly amount: bigint;
      /** Null when no account needs to be created: for SOL always. */
      readonly accountPayer: Address | null;
      /** A key that programs ignore, which makes the message unique (Solana Pay's reference). */
      readonly reference?: Address;
    }
  | {
      readonly does: "close";
      readonly mint: Address;
      readonly owner: Address;
      readonly to: Address;
      /** A token account of `owner` other than the associated one. */
      readonly account?: Address;
      readonly program?: TokenProgram;
    };

/** A move of one kind. */
export type MoveOf<Does extends Move["does"]> = Extract<Move, { readonly does: Does }>;

/** A transaction as a list of moves, which all happen, or none. */
export interface TransactionPlan {
  readonly feePayer: Address;
  readonly moves: readonly Move[];
}

/** The bid of a transaction for its place in a block: the priority fee. */
export interface Bid {
  /** Where it begins: at what the market is estimated to take, at the least that the ledger bids, or at its ceiling. */
  readonly from: "estimate" | "floor" | "ceiling";
  /** Bids this at least, as far as the ceiling permits, in lamports. Default 0. */
  readonly atLeast?: bigint;
  /** The most that is bid, in lamports. Default: the ledger's own ceiling. */
  readonly ceiling?: bigint;
}

/** A plan over a blockhash: what its signers sign. */
export interface UnsignedTransaction {
  /** The message's bytes: a v0 message. */
  readonly message: Uint8Array;
  /** Required signers, in the order of the wire format, the fee payer first. */
  readonly signers: readonly Address[];
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
  /** No block of an earlier slot can hold it. */
  readonly firstSlot: number;
  /** Lamports the network will charge the fee payer. */
  readonly networkFee: Evidence<bigint>;
  /** The part of them that is bid for a place in a block, in lamports. */
  readonly priorityFee: bigint;
}

/** A finalized transaction that an address signed. */
export interface OutgoingTransaction {
  readonly signature: string;
  readonly slot: number;
  /** The chain's error as JSON text: then it moved nothing but its fee. Null when it succeeded. */
  readonly error: string | null;
}

/** The transactions that an address signed. */
export interface SignedHistory {
  /** Newest first. */
  readonly transactions: readonly OutgoingTransaction[];
  /** False when more transactions name the address than were looked through: then older ones may be missing. */
  readonly isWhole: boolean;
}

/** A token account of an owner that is not the associated one, and its balance. */
export interface StrayAccount {
  readonly address: Address;
  readonly mint: Address;
  /** Raw units, above zero. */
  readonly amount: bigint;
}

/** The balances of one owner over all its token accounts of some mints, associated or not. */
export interface OwnerHoldings extends Reading, Funds {
  /**
   * The token accounts that hold something, are not the associated ones, and are not frozen; the fullest first.
   */
  readonly accounts: readonly StrayAccount[];
}

/** The length of a token account, for its rent. In Token-2022 extensions may follow. */
export const TOKEN_ACCOUNT_BYTES = 165;

/** Reads and transactions of routing. */
export interface RoutingLedger {
  /**
   * The balances of each address and of its associated token accounts (Token program) of `mints`, 100 accounts a call.
   * An address and its accounts are read from one block, together with the Clock sysvar, which gives slot and time.
   * With several calls, slot and time are those of the oldest.
   *
   * It is what as many endpoints vouch for as must agree (`WitnessCount`): of each amount the most that so many of them
   * hold true, at the oldest slot and time of their answers. Throws `LedgerUnavailable` where fewer answer.
   */
  funds(
    addresses: readonly Address[],
    mints: readonly Address[],
    commitment: FirmCommitment,
  ): Promise<Evidence<FundsReading>>;
  /**
   * The balance of each single account, in the order asked: the lamports of a wallet, or the raw units of a mint in an
   * account of either token program; 0 for an account of any other kind. 100 accounts a call. The answer names no block
   * and does not check the present owner of a token account: it is a hint where to look. Decisions read `funds`.
   */
  amountsIn(accounts: readonly AssetAccount[], commitment: Commitment): Promise<Hint<readonly bigint[]>>;
  /** The associated account at which `owner` keeps `mint`, of the Token program where none is named. Pure. */
  tokenAccountOf(owner: Address, mint: Address, program?: TokenProgram): Address;
  /**
   * Like `funds` for one owner, but over all its token accounts, associated or not, of either token program. One call per mint
   * to each node, so the parts may come from different blocks; the slot is the slot of the oldest. Agreed on as in `funds`.
   */
  holdingsOf(
    owner: Address,
    mints: readonly Address[],
    commitment: FirmCommitment,
  ): Promise<Evidence<OwnerHoldings>>;
  /** The rent minimum of an account of so many bytes, in lamports, as the chain priced it ten seconds ago at most. */
  rentMinimum(bytes: number): Promise<Evidence<bigint>>;
  /**
   * The address of the marker that `buy` makes, of an order's address and a seed: `0`, `1` … for chunks, `r0` … `r9` for
   * redirects. Pure. Throws `RangeError` for any other seed: it would be another lock.
   */
  markerOf(order: Address, seed: string): Address;
  /**
   * One look at an order: markers, balances of its address and the other owners, and the rent, from one block of each
   * endpoint. Every endpoint is asked. Answers that are more than 50 slots from those of the others are left out, as long as
   * enough remain. Throws `LedgerUnavailable` where fewer answer than must agree, and `EndpointsDifferError` where they
   * differ about the rent. At processed a block may still vanish.
   */
  readOrder(query: OrderQuery, commitment: Commitment): Promise<Evidence<OrderReading>>;
  /**
   * The finalized transactions of slot `since` or later that changed what an order holds, or by which its own key paid
   * somebody. The call reads about 1,000 transactions that name its address or an associated account of its mints: the next one
   * goes on from `more`. As many endpoints as must agree have to list; a transaction on any list counts, and its changes must
   * be told alike, else `EndpointsDifferError`. Where endpoints do not reach back so far, what they list is no proof that
   * there is no more.
   */
  changesOfOrder(query: OrderHistoryQuery, since: number): Promise<Evidence<OrderHistory>>;
  /**
   * The block height that as many endpoints as must agree have reached, and the highest of all that answer. Throws `LedgerUnavailable` when fewer endpoints than the number of witnesses answer.
   */
  heights(
    commitment: FirmCommitment,
  ): Promise<Evidence<{ readonly agreed: number; readonly highest: number }>>;
  /**
   * The bytes of the plan once it is signed, more than 1,232 included. Asks no node. Rejects with `RangeError` for what
   * `buildTransaction` refuses besides its length, and for a plan of more than 72 moves or 256 accounts.
   */
  sizeOf(plan: TransactionPlan): Promise<number>;
  /**
   * Lamports that the network would charge for this plan, at most ten seconds old; the priority fee begins at the estimate or
   * at the floor. Rejects as `buildTransaction` does.
   */
  feeOf(plan: TransactionPlan, from: "estimate" | "floor"): Promise<Evidence<bigint>>;
  /** The most that a transaction bids for its place in a block unless its `Bid` says otherwise, in lamports. */
  readonly bidCeiling: bigint;
  /** The least bid, in millionths of a lamport per compute unit. Left out where nothing is known of it. */
  readonly bidFloor?: bigint;
  /**
   * Compiles the plan over a confirmed blockhash that was the newest a second ago at most, with a compute limit and a priority fee:
   * the estimate, unless `bid` says otherwise. Rejects with `RangeError`, before a node is asked, for an amount outside 1 …
   * 2^64 − 1; for a seed or a length that no marker has; and for a plan that does not fit 1,232 bytes.
   */
  buildTransaction(plan: TransactionPlan, bid?: Bid): Promise<UnsignedTransaction>;
  /**
   * Checks a swap that a stranger has built (base64, unsigned) against its terms: who signs, which programs are called,
   * what the swap instruction states. Then enough endpoints run it at confirmed, and what the run leaves the taker must
   * keep the terms; `rent` is in lamports, what the taker pays for token accounts of its own. A run proves the present
   * state alone: see `solana/facts.md`, *Swaps of strangers*.
   */
  checkForeignSwap(
    putativeTransaction: string,
    swap: ForeignSwap,
  ): Promise<
    | { readonly checked: Evidence<{ readonly unsigned: UnsignedTransaction; readonly rent: bigint }> }
    | { readonly refused: ForeignSwapFault }
  >;
  /**
   * Runs the message of this plan without signatures, at confirmed; null when an endpoint says that it would succeed. An error
   * is what as many as must agree say.
   */
  tryOrder(plan: TransactionPlan, unsigned: UnsignedTransaction): Promise<Evidence<OrderFault> | null>;
  /** Reads the chain's error of a landed transaction that was built from this plan. Asks no node. */
  explainOrder(plan: TransactionPlan, error: Evidence<string>): Promise<Evidence<OrderFault>>;
  /** The finalized transactions that `address` itself signed, among the newest 1,000 that name it. */
  signedBy(address: Address): Promise<Evidence<SignedHistory>>;
}
