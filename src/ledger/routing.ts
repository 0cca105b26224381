/**
 * The ledger's side of payments that the service itself signs: out of one-time deposit addresses, and from its desk.
 * The rules of `Ledger` hold here too: nothing signs, batches keep their order, a failure to ask throws
 * `LedgerUnavailable`, and unknown is never reported as failed.
 */
import type { Address } from "../address.ts";
import type { Evidence, Hint } from "./belief.ts";
import type { ForeignSwap, ForeignSwapFault } from "./foreign-swap.ts";
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
  readonly funds: readonly (Funds & {
    /**
     * The highest amount that any endpoint reports: lamports first, then the tokens in their order. Absent when no
     * endpoint reports more than `lamports` and `tokens`. If present, the extra money may exist, and no deposit window
     * may close.
     */
    readonly claimed?: readonly bigint[];
  })[];
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
 * The *marker* of `base` and `seed` is an account that only the key of `base` can make, once, and that anybody can
 * read: a wrapped-SOL token account at an address derived of both. Lamports sent to the address by strangers, before or
 * after, do no harm. Nobody but `base` can change or close it.
 *
 * `mark` makes a marker at the rent of a token account, so of two transactions with the same mark at most one succeeds.
 * `replace` makes the marker of `seed`, names the marker of `plan` in it as its delegate, and makes the marker of `plan`:
 * after it no transaction with the mark of `seed` succeeds. `follow` succeeds only where the marker of `plan` was made,
 * and takes away a delegate there, which a plan's marker does not have. `unmark` closes a marker, all of its lamports going to `to`: from then on it can be made
 * again. `transfer` pays from one owner to another, between their associated token accounts when there is a mint, or from
 * another token account of the payer's, `fromAccount`; with an `accountPayer` the recipient's account is created,
 * idempotently, at that payer's cost, and the whole fails when its owner handed that account over to another.
 * `close` closes an owner's empty token account, the associated one or `account`, its rent going to `to`. Both are of the
 * first token program where they name no `program`; a Token-2022 mint that calls a program of its own at each transfer
 * cannot be moved.
 */
export type Move =
  | { readonly does: "mark"; readonly base: Address; readonly seed: string; readonly payer: Address }
  | {
      readonly does: "replace";
      readonly base: Address;
      /** The seed of the replaced marker. */
      readonly seed: string;
      /** The seed of the replacing plan's marker; differs from `seed`. */
      readonly plan: string;
      /** Pays the rent of both markers. */
      readonly payer: Address;
    }
  | { readonly does: "follow"; readonly base: Address; readonly plan: string }
  | { readonly does: "unmark"; readonly base: Address; readonly seed: string; readonly to: Address }
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

/** What a transaction bids for its place in a block: the priority fee. */
export interface Bid {
  /** Where it begins: at what the market is estimated to take, at the least that the ledger bids, or at its ceiling. */
  readonly from: "estimate" | "floor" | "ceiling";
  /** Bids this at least, as far as the ceiling permits, in lamports. Default 0. */
  readonly atLeast?: bigint;
  /** The most that is bid, in lamports. Default: the ledger's own ceiling. */
  readonly ceiling?: bigint;
  /** The most that a relay is tipped, in lamports: less than it wants is no tip. Default 0. */
  readonly tip?: bigint;
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
  /** Lamports the network will charge the fee payer, and the tip. */
  readonly networkFee: Evidence<bigint>;
  /** The part of them that is bid for a place in a block, in lamports. */
  readonly priorityFee: bigint;
  /** The part of them that a relay is tipped, in lamports. Absent where the bytes tip nobody. */
  readonly tip?: bigint;
  /** Lamports that each marker is made with; 0 where the plan makes none. */
  readonly markerRent: Evidence<bigint>;
}

/**
 * Why a transaction of ours fails, read from the chain's error.
 *
 * - `payee`: the recipient of `moves[move]` cannot take it: its account is frozen, handed over to another owner, missing
 *   where no other party pays for it, or would stay below the rent minimum. `move` is null when it is one of several
 *   recipients whose accounts an owner itself was to pay for, and the error does not tell which.
 * - `marked`: a marker that `moves[move]`, a mark or a replacement, was to make exists already.
 * - `unplanned`: the plan that `moves[move]` follows was not made.
 * - `source`: the owner's balance is not as the plan assumes: too little to pay, less than the rent minimum left, a
 *   frozen or missing account, one to be closed that is not empty, or a marker to be taken away that is not there.
 * - `fee_payer`: the fee payer, or another who pays for a marker or for others' accounts, cannot pay the fee, the rent, or
 *   the lamports that it gives.
 * - `blockhash`: not alive, or not known yet.
 * - `already_processed`: these very bytes have landed.
 * - `other`: anything else, including a transfer of which the error does not tell which end is at fault.
 */
export interface TransactionFault {
  readonly kind:
    "payee" | "marked" | "unplanned" | "source" | "fee_payer" | "blockhash" | "already_processed" | "other";
  /** Index into the plan's moves, null where the error is not of one move. */
  readonly move: number | null;
  /** The chain's error as JSON text. */
  readonly error: string;
}

/**
 * The finalized state of a marker. `unmade`: no marker, with or without lamports. An object: the marker was made;
 * `delegate` is the marker of the plan that replaced it, null without a replacement; `lamports` is the amount that
 * closing returns. `disputed`: the answering endpoints differ, or report an impossible account: no conclusion is
 * allowed.
 */
export type Marker = "unmade" | "disputed" | { readonly delegate: Address | null; readonly lamports: bigint };

/** Markers as several endpoints report them. The slot and the block time are the lowest of their answers. */
export interface MarkersReading extends Reading {
  /** A finalized height that as many endpoints as must agree have reached, and that what they tell is not older than. */
  readonly blockHeight: number;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly markers: readonly Marker[];
  /** For each marker the highest finalized height of an endpoint that tells it as unmade; −1 where none does. */
  readonly unmadeAt: readonly number[];
}

/** A finalized transaction that an address signed. */
export interface OutgoingTransaction {
  readonly signature: string;
  readonly slot: number;
  /** The chain's error as JSON text: then it moved nothing but its fee. Null when it succeeded. */
  readonly error: string | null;
}

/** A stretch of time, in Unix milliseconds. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** The signatures of an address, and whether the list is complete. */
export interface WitnessedHistory {
  /** Newest first. */
  readonly transactions: readonly OutgoingTransaction[];
  /** False when more transactions name the address than were looked through: then older ones may be missing. */
  readonly isWhole: boolean;
  /**
   * Whether enough endpoints have the complete history of the period: if so, a transaction that no endpoint lists did
   * not happen in the period.
   */
  readonly isProven: boolean;
}

/** A token account of an owner that is not the associated one, and its balance. */
export interface StrayAccount {
  readonly address: Address;
  readonly mint: Address;
  /** Raw units, above zero. */
  readonly amount: bigint;
}

/** Token accounts other than the associated ones. */
export interface StrayReading extends Reading {
  readonly accounts: readonly StrayAccount[];
  /** The accounts of which an endpoint tells more than enough endpoints vouch for, with the difference as the amount. */
  readonly disputed: readonly StrayAccount[];
}

/** The money that one transaction brought to an owner, for one asset. */
export interface Inflow {
  readonly signature: string;
  /** Null for lamports. */
  readonly mint: Address | null;
  /** Increase of the owner's balance over all accounts, in base units. */
  readonly amount: bigint;
  /**
   * Known owners whose balance of this asset fell, each with the most that it can have given: base units, at most those
   * of the inflow; several payers may have given together.
   */
  readonly from: readonly { readonly payer: Address; readonly amount: bigint }[];
  /**
   * Base units that may have come from a payer without a name: newly minted, out of a program's account, or
   * out of an account that another key could close.
   */
  readonly unattributed: bigint;
  /** The fee payer of the transaction, who may have given nothing else. */
  readonly feePayer: Address;
}

/** The accounts in which payers are searched, and the amounts that end the search. */
export interface PayerQuery {
  /** Token accounts of the owner beside the associated ones. */
  readonly accounts: readonly Address[];
  /** All that is listed of later slots is read, whether or not the money is explained before. Left out, nothing has to be. */
  readonly after?: number;
  /** Whether these inflows explain the money: then no older transaction is read. */
  readonly isExplained: (inflows: Evidence<readonly Inflow[]>) => boolean;
}

/** The payers of an address, as far as nodes list them. */
export interface InflowHistory {
  /**
   * An inflow for each transaction and asset, unordered. Transfers between the owner's own accounts are not inflows.
   */
  readonly inflows: readonly Inflow[];
  /**
   * True when the money is explained, or every listed transaction was read. False when the look reached its limit: the
   * next look continues from there.
   */
  readonly isWhole: boolean;
}

/**
 * The length of a token account, and of a marker, for its rent: `rentMinimum(TOKEN_ACCOUNT_BYTES)`. In Token-2022 extensions
 * may follow.
 */
export const TOKEN_ACCOUNT_BYTES = 165;
/**
 * A seed as long as the seed of any marker, for plans that are only measured or priced: the value of the seed changes
 * neither size nor price. In a transaction with several markers each marker needs a different seed, or the measured
 * size is too small.
 */
export const ANY_SEED = "0".repeat(32);

/** A holder of an asset. */
export interface Holder {
  readonly owner: Address;
  /** Null for lamports. */
  readonly mint: Address | null;
}

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
   * Like `funds`, at processed, in blocks that may still vanish: the highest balance that any endpoint shows. Throws
   * `LedgerUnavailable` when fewer endpoints answer than must agree, since absence needs as many witnesses.
   */
  seenFunds(addresses: readonly Address[], mints: readonly Address[]): Promise<Evidence<FundsReading>>;
  /**
   * The balance of each single account, in the order asked: the lamports of a wallet, or the raw units of a mint in an
   * account of the Token program; 0 for an account of any other kind. 100 accounts a call. The answer names no block
   * and does not check the present owner of a token account: it is a hint where to look. Decisions read `funds`.
   */
  amountsIn(accounts: readonly AssetAccount[], commitment: Commitment): Promise<Hint<readonly bigint[]>>;
  /** The associated account at which `owner` keeps `mint`, of the Token program where none is named. Pure. */
  tokenAccountOf(owner: Address, mint: Address, program?: TokenProgram): Address;
  /**
   * Like `funds` for one owner, but over all its token accounts, associated or not. Several calls to each node, so the
   * parts may come from different blocks; the slot is the slot of the oldest. Agreed on as in `funds`.
   */
  fundsOfOwner(
    owner: Address,
    mints: readonly Address[],
    commitment: FirmCommitment,
  ): Promise<Evidence<Reading & Funds>>;
  /** Whether each owner's associated token account of this mint exists, at confirmed, so that it need not be paid for. */
  haveTokenAccounts(owners: readonly Address[], mint: Address): Promise<Evidence<readonly boolean[]>>;
  /** The rent minimum of an account of so many bytes, in lamports, as the chain priced it ten seconds ago at most. */
  rentMinimum(bytes: number): Promise<Evidence<bigint>>;
  /**
   * The address of the marker of `base` and `seed`. Pure. Throws `RangeError` unless `seed` is 1–32 printable ASCII
   * characters.
   */
  markerAddress(base: Address, seed: string): Address;
  /**
   * The markers of `base` and `seeds`, finalized, in the order asked, 100 accounts a call. Every endpoint is asked, and
   * all answers about a marker must be equal, or the marker is `disputed`; when only the lamports differ, which anybody
   * may send at any time, the smallest amount counts. Throws `LedgerUnavailable` when fewer endpoints than the number
   * of witnesses answer.
   */
  markers(base: Address, seeds: readonly string[]): Promise<Evidence<MarkersReading>>;
  /**
   * The lowest and the highest block height of all answering endpoints, and the height that as many as must agree have
   * reached. Throws `LedgerUnavailable` when fewer endpoints than the number of witnesses answer.
   */
  heights(
    commitment: FirmCommitment,
  ): Promise<Evidence<{ readonly lowest: number; readonly agreed: number; readonly highest: number }>>;
  /**
   * The bytes of the plan once it is signed, more than 1,232 included. Asks no node. Rejects with `RangeError` for what
   * `buildTransaction` refuses besides its length, and for a plan of more than 72 moves or 256 accounts.
   */
  sizeOf(plan: TransactionPlan): Promise<number>;
  /**
   * Lamports that the network would charge for this plan as it did ten seconds ago at most, with a priority fee that begins at
   * the estimate or at the floor. Rejects as `buildTransaction` does.
   */
  feeOf(plan: TransactionPlan, from: "estimate" | "floor"): Promise<Evidence<bigint>>;
  /** The most that a transaction bids for its place in a block unless its `Bid` says otherwise, in lamports. */
  readonly bidCeiling: bigint;
  /** What a relay wants for each transaction, in lamports. Left out where none wants anything. */
  readonly tip?: bigint;
  /** The least bid, in millionths of a lamport per compute unit. Left out where nothing is known of it. */
  readonly bidFloor?: bigint;
  /**
   * Compiles the plan over a confirmed blockhash that was the newest a second ago at most, with a compute limit and a priority fee:
   * the estimate, unless `bid` says otherwise. Rejects with `RangeError`, before a node is asked, for an amount outside 1 … 2^64 − 1, for a seed that no marker has, for
   * a replacement by itself, and for a plan that does not fit 1,232 bytes.
   */
  buildTransaction(plan: TransactionPlan, bid?: Bid): Promise<UnsignedTransaction>;
  /**
   * Runs the message without signatures, at confirmed; null when it would succeed. Where the error does not tell which
   * end of a transfer is at fault, both are looked at.
   */
  tryTransaction(
    plan: TransactionPlan,
    unsigned: UnsignedTransaction,
  ): Promise<Evidence<TransactionFault> | null>;
  /**
   * Checks a swap that a stranger has built (base64, unsigned) against its terms: who signs, which programs are called,
   * what the swap instruction states. Then enough endpoints run it at confirmed, and what the run leaves the taker must
   * keep the terms; `rent` is in lamports, what the taker pays for token accounts of its own. A run proves the present
   * state alone: see `solana/README.md`, *Swaps of strangers*.
   */
  checkForeignSwap(
    putativeTransaction: string,
    swap: ForeignSwap,
  ): Promise<
    | { readonly checked: Evidence<{ readonly unsigned: UnsignedTransaction; readonly rent: bigint }> }
    | { readonly refused: ForeignSwapFault }
  >;
  /** Reads the chain's error of a landed transaction that was built from this plan. Asks no node. */
  explainError(plan: TransactionPlan, error: Evidence<string>): Promise<TransactionFault>;
  /** The finalized transactions that `address` itself signed, among the newest 1,000 that name it. */
  signedBy(address: Address): Promise<Evidence<Pick<WitnessedHistory, "transactions" | "isWhole">>>;
  /**
   * Like `signedBy`, with the proof that `address` signed nothing else in the period: an endpoint is a witness if its
   * ledger begins at or before `from`. Throws `LedgerUnavailable` while fewer endpoints than must agree have a
   * finalized block of `to` or later.
   */
  signedWithin(address: Address, period: TimeWindow): Promise<Evidence<WitnessedHistory>>;
  /**
   * The finalized transaction by which `base` made its marker. `foreign` when the marker's whole history is listed and none
   * of it was signed by `base`: another party put lamports there. Null when the nodes tell neither, which proves nothing.
   */
  markedBy(base: Address, seed: string): Promise<Evidence<OutgoingTransaction | "foreign"> | null>;
  /**
   * The newest finalized transactions that name this key in any role and succeeded, up to ten, oldest first, as one endpoint
   * lists them. Anybody can name any key.
   */
  listedUnder(key: Address): Promise<Hint<readonly string[]>>;
  /**
   * The changes of these holders' balances by a finalized transaction, in base units and in their order: over all token
   * accounts of a mint, or the lamports of the owner's own account. Null when fewer endpoints than must agree have the
   * transaction. Throws `LedgerUnavailable` when endpoints differ about the changes.
   */
  changesOf(signature: string, holders: readonly Holder[]): Promise<Evidence<readonly bigint[]> | null>;
  /**
   * The token accounts of `owner` of these mints, of either token program, that hold something, are not the associated
   * ones, and are not frozen; the fullest first. One call per mint; pass exactly one mint. Agreed on as in `funds`.
   */
  strayAccounts(
    owner: Address,
    mints: readonly Address[],
    commitment: FirmCommitment,
  ): Promise<Evidence<StrayReading>>;
  /**
   * The payers of `owner`, finalized: of lamports, and of tokens of `mints`, read from the changes of balances, as
   * enough endpoints report them. A transaction that any endpoint lists counts. Throws `EndpointsDifferError` when endpoints
   * differ.
   *
   * It reads the transactions that name `owner`, its associated token accounts of `mints`, each of `search.accounts`, and
   * each other token account of `mints` that the owner itself has paid from, from the newest back, until the money is
   * explained. A transaction that only names an account brings nothing. One look reads about 1,000 transactions; the next
   * one goes on there, and reads none of them again while the ledger is open. An attribution and no proof: nodes have left
   * entries out, so compare its sum with what the accounts hold; and exchanges pay for many.
   */
  payersOf(owner: Address, mints: readonly Address[], search: PayerQuery): Promise<Evidence<InflowHistory>>;
}
