/**
 * The ledger's side of payments that the service itself signs: out of one-time deposit addresses, and from its desk.
 * The rules of `Ledger` hold here too: nothing signs, batches keep their order, a failure to ask throws
 * `LedgerUnavailable`, and unknown is never reported as failed.
 */
import type { Address } from "../address.ts";
import type { Evidence, Hint } from "./belief.ts";
import type { Commitment, FirmCommitment, Reading } from "./reading.ts";

/** What one address can call its own: its lamports, and of each mint asked for, its raw units. */
export interface Funds {
  /** 0 where a plain transfer could not move them: an account with data, or of another program. */
  readonly lamports: bigint;
  /**
   * In the order of the mints asked for. 0 where there is no account, and where it was handed over to another owner; what
   * is in a frozen account counts, though it cannot move.
   */
  readonly tokens: readonly bigint[];
}

/** Funds that several endpoints were asked for. */
export interface ClaimedFunds extends Funds {
  /**
   * The most that any endpoint tells of each amount: the lamports, then the tokens in their order. Left out where no
   * endpoint tells more than the amounts. Else the absence of that money is not proved, and no window may close because of
   * it.
   */
  readonly claimed?: readonly bigint[];
}

/** What many addresses held in one block. */
export interface FundsReading extends Reading {
  /** Unix seconds of that very block. */
  readonly blockTime: number;
  readonly funds: readonly ClaimedFunds[];
}

/** One account, and what is looked for in it. */
export interface AssetAccount {
  readonly address: Address;
  /** Null for lamports. */
  readonly mint: Address | null;
}

/** Under which token program a mint is: the first one, or Token-2022. */
export type TokenProgram = "token" | "token-2022";

/**
 * One thing that a transaction does, in the order of its instructions.
 *
 * The *marker* of `base` and `seed` is an account that only the key of `base` can make, once, and that anybody can read:
 * a wrapped-SOL token account at an address derived of both. Lamports that others send there, before or after, hinder
 * nothing. Nobody but `base` can change or close it.
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
      /** Of the marker that stands for what is replaced. */
      readonly seed: string;
      /** The seed of the marker that stands for what replaces it; another one than `seed`. */
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
      /** A token account of `from` that is not its associated one. */
      readonly fromAccount?: Address;
      readonly program?: TokenProgram;
      readonly to: Address;
      /** Base units, 1 … 2^64 − 1. */
      readonly amount: bigint;
      /** Null when no account needs to be created: for SOL always. */
      readonly accountPayer: Address | null;
      /** A key that the programs ignore: it makes a message unlike any other (Solana Pay's reference). */
      readonly reference?: Address;
    }
  | {
      readonly does: "close";
      readonly mint: Address;
      readonly owner: Address;
      readonly to: Address;
      /** A token account of `owner` that is not its associated one. */
      readonly account?: Address;
      readonly program?: TokenProgram;
    };

/** A move of one kind. */
export type MoveOf<Does extends Move["does"]> = Extract<Move, { readonly does: Does }>;

/** A transaction as a list of moves, all or none of which happen. */
export interface TransactionPlan {
  readonly feePayer: Address;
  readonly moves: readonly Move[];
}

/** A plan over a blockhash: what its signers sign. */
export interface UnsignedTransaction {
  /** The message's bytes: a v0 message. */
  readonly message: Uint8Array;
  /** Whose signatures it needs, in the order of the wire format, the fee payer first. */
  readonly signers: readonly Address[];
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
  /** No block of an earlier slot can hold it. */
  readonly firstSlot: number;
  /** Lamports the network will charge the fee payer. */
  readonly networkFee: Evidence<bigint>;
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
 * - `source`: what an owner has is not what the plan takes it to have: too little to pay, less than the rent minimum left,
 *   a frozen or missing account, one to be closed that is not empty, or a marker to be taken away that is not there.
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
 * What stands at a marker's address, finalized. `unmade`: no marker, lamports or not. An object: it was made; `delegate` is
 * the marker of the plan that replaced it, null where none did; `lamports` is all that closing it returns. `disputed`: the
 * endpoints that answered differ, or answered what no chain can hold: then nothing may be concluded.
 */
export type Marker = "unmade" | "disputed" | { readonly delegate: Address | null; readonly lamports: bigint };

/** What several endpoints answered of markers. The slot and the block time are the lowest of their answers. */
export interface MarkersReading extends Reading {
  /** A finalized height that as many endpoints as must agree have reached, and that what they tell is not older than. */
  readonly blockHeight: number;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly markers: readonly Marker[];
  /** For each marker the highest finalized height of an endpoint that tells it as unmade; −1 where none does. */
  readonly unmadeAt: readonly number[];
}

/** The block heights of all endpoints that answered. */
export interface BlockHeights {
  readonly lowest: number;
  /** Reached by as many endpoints as must agree. */
  readonly agreed: number;
  readonly highest: number;
}

/** A finalized transaction that an address signed. */
export interface OutgoingTransaction {
  readonly signature: string;
  readonly slot: number;
  /** The chain's error as JSON text: then it moved nothing but its fee. Null when it succeeded. */
  readonly error: string | null;
}

/** What an address has signed, as far as the nodes list it. */
export interface SignedHistory {
  /** Newest first. */
  readonly transactions: readonly OutgoingTransaction[];
  /** False when more transactions name the address than were looked through: then older ones may be missing. */
  readonly isWhole: boolean;
}

/** A stretch of time, in Unix milliseconds. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** What an address has signed, and what follows from there being no more. */
export interface WitnessedHistory extends SignedHistory {
  /** Whether enough endpoints have the whole history of the period: then what none of them lists did not happen in it. */
  readonly isProven: boolean;
}

/** A token account beside an owner's associated one, and what is in it. */
export interface StrayAccount {
  readonly address: Address;
  readonly mint: Address;
  /** Raw units, above zero. */
  readonly amount: bigint;
}

/** The token accounts beside the associated ones. */
export interface StrayReading extends Reading {
  readonly accounts: readonly StrayAccount[];
  /** The accounts of which an endpoint tells more than enough endpoints vouch for, with the difference as the amount. */
  readonly disputed: readonly StrayAccount[];
}

/** How much of an inflow one payer can have given. */
export interface InflowShare {
  readonly payer: Address;
  /** Base units, at most those of the inflow; several payers may have given together. */
  readonly amount: bigint;
}

/** What one transaction brought to an owner of one asset. */
export interface Inflow {
  readonly signature: string;
  /** Null for lamports. */
  readonly mint: Address | null;
  /** Base units by which the owner has more than before, over all of its accounts. */
  readonly amount: bigint;
  /** Whose balance of this asset fell, as far as they are known by name. */
  readonly from: readonly InflowShare[];
  /**
   * Base units that may have come from a payer without a name: newly minted, out of a program's account, or
   * out of an account that another key could close.
   */
  readonly unattributed: bigint;
  /** Who paid the network for the transaction; may have given nothing else. */
  readonly feePayer: Address;
}

/** Where the payers of an address are sought, and when enough of them are found. */
export interface PayerQuery {
  /** Token accounts of the owner beside the associated ones. */
  readonly accounts: readonly Address[];
  /** All that is listed of later slots is read, whether or not the money is explained before. Left out, nothing has to be. */
  readonly after?: number;
  /** Whether these inflows explain the money: then no older transaction is read. */
  readonly isExplained: (inflows: Evidence<readonly Inflow[]>) => boolean;
}

/** Whose money came to an address, as far as the nodes list it. */
export interface InflowHistory {
  /** One for each transaction and asset, in no order. What the owner moved between its own accounts is none. */
  readonly inflows: readonly Inflow[];
  /**
   * True when the money is explained, or every transaction that is listed was read. False when the look came to its bound
   * before: then the next one goes on where this one stopped.
   */
  readonly isWhole: boolean;
}

/**
 * The length of a token account, and of a marker, for its rent: `rentMinimum(TOKEN_ACCOUNT_BYTES)`. In Token-2022 extensions
 * may follow.
 */
export const TOKEN_ACCOUNT_BYTES = 165;
/**
 * As long as the seed of every marker, for plans that are only measured or priced: which one it is changes neither. Where a
 * transaction has several markers, each needs a seed of its own, or it is measured too short.
 */
export const ANY_SEED = "0".repeat(32);

/** One holder of one asset. */
export interface Holder {
  readonly owner: Address;
  /** Null for lamports. */
  readonly mint: Address | null;
}

/** What routing asks of the chain. */
export interface RoutingLedger {
  /**
   * What each address holds, itself and in its associated token accounts (Token program) of `mints`, 100 accounts a call.
   * An address and its accounts are read of one block, and so is the Clock sysvar, whose slot and time these are. With
   * several calls they are those of the oldest.
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
   * The same at processed, in blocks that may still vanish: of each amount the most that any endpoint shows. Throws
   * `LedgerUnavailable` where fewer answer than must agree, since absence has to be told by as many.
   */
  seenFunds(addresses: readonly Address[], mints: readonly Address[]): Promise<Evidence<FundsReading>>;
  /**
   * What each account holds by itself, in the order asked: the lamports of a wallet, or the raw units of a mint in an
   * account of the Token program; 0 where the account is none of that kind. 100 accounts a call. It says of no block, and
   * whose a token account is by now it does not ask: a hint where to look; what decides asks `funds`.
   */
  amountsIn(accounts: readonly AssetAccount[], commitment: Commitment): Promise<Hint<readonly bigint[]>>;
  /** Where `owner` keeps `mint` by convention: its associated account of the Token program. Pure. */
  tokenAccountOf(owner: Address, mint: Address): Address;
  /**
   * As `funds` for one owner, but over all of its token accounts, associated or not. Several calls to each node, so the
   * parts may be of different blocks; the slot is that of the oldest. Agreed on as in `funds`.
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
  /** Where the marker of `base` and `seed` is. Pure. Throws `RangeError` unless `seed` is 1–32 printable ASCII characters. */
  markerAddress(base: Address, seed: string): Address;
  /**
   * What stands at the markers of `base` and `seeds`, finalized, in the order asked, 100 accounts a call. Every endpoint is
   * asked, and all that answer must tell the same of a marker, or it is `disputed`; where only its lamports differ, which
   * anybody may add to at any time, the fewest are told. Throws `LedgerUnavailable` when fewer endpoints than the number of
   * witnesses answer.
   */
  markers(base: Address, seeds: readonly string[]): Promise<Evidence<MarkersReading>>;
  /**
   * The lowest and the highest block height that any endpoint tells, of all that answer, and the one that as many
   * as must agree have reached. Throws `LedgerUnavailable` when fewer endpoints than the number of witnesses answer.
   */
  heights(commitment: FirmCommitment): Promise<Evidence<BlockHeights>>;
  /**
   * The bytes of the plan once it is signed, more than 1,232 included. Asks no node. Rejects with `RangeError` for what
   * `buildTransaction` refuses besides its length, and for a plan of more than 72 moves or 256 accounts.
   */
  sizeOf(plan: TransactionPlan): Promise<number>;
  /** Lamports that the network would charge for this plan (a price of ten seconds ago at most), priority fee included. Rejects as `buildTransaction` does. */
  feeOf(plan: TransactionPlan): Promise<Evidence<bigint>>;
  /**
   * Compiles the plan over a confirmed blockhash that was the newest a second ago at most, with a compute limit and a priority fee. Rejects with
   * `RangeError`, before a node is asked, for an amount outside 1 … 2^64 − 1, for a seed that no marker has, for
   * a replacement by itself, and for a plan that does not fit 1,232 bytes.
   */
  buildTransaction(plan: TransactionPlan): Promise<UnsignedTransaction>;
  /**
   * Runs the message without signatures, at confirmed; null when it would succeed. Where the error does not tell which
   * end of a transfer is at fault, both are looked at.
   */
  tryTransaction(
    plan: TransactionPlan,
    unsigned: UnsignedTransaction,
  ): Promise<Evidence<TransactionFault> | null>;
  /** Reads the chain's error of a landed transaction of this plan, which must be one that was built. Asks no node. */
  explainError(plan: TransactionPlan, error: Evidence<string>): Promise<TransactionFault>;
  /** The finalized transactions that `address` itself signed, among the newest 1,000 that name it. */
  signedBy(address: Address): Promise<Evidence<SignedHistory>>;
  /**
   * The same, and whether it is all that `address` signed in the period: an endpoint witnesses that where its ledger begins
   * at or before `from`. Throws `LedgerUnavailable` while fewer endpoints than must agree have a finalized block of `to` or
   * later.
   */
  signedWithin(address: Address, period: TimeWindow): Promise<Evidence<WitnessedHistory>>;
  /**
   * The finalized transaction by which `base` made its marker. `foreign` when the marker's whole history is listed and none
   * of it was signed by `base`: another party put lamports there. Null when the nodes tell neither, which proves nothing.
   */
  markedBy(base: Address, seed: string): Promise<Evidence<OutgoingTransaction | "foreign"> | null>;
  /**
   * By how much a finalized transaction has changed what each of these holders has, in base units and in their order: over all
   * token accounts of a mint, and of lamports what the owner's own account has. Null where fewer endpoints than must agree have it. Throws
   * `LedgerUnavailable` where endpoints differ about it.
   */
  changesOf(signature: string, holders: readonly Holder[]): Promise<Evidence<readonly bigint[]> | null>;
  /**
   * The token accounts of `owner` of these mints, of either token program, that hold something, are not the associated
   * ones, and are not frozen; the fullest first. One call per mint, which must be one. Agreed on as in `funds`.
   */
  strayAccounts(
    owner: Address,
    mints: readonly Address[],
    commitment: FirmCommitment,
  ): Promise<Evidence<StrayReading>>;
  /**
   * Whose money came to `owner`, finalized: lamports, and tokens of `mints`, each read from how balances changed, as the
   * endpoints tell it that must agree. What any endpoint lists counts. Throws `EndpointsDifferError` where they differ.
   *
   * It reads the transactions that name `owner`, its associated token accounts of `mints`, each of `search.accounts`, and
   * each other token account of `mints` that the owner itself has paid from, from the newest back, until the money is
   * explained. A transaction that only names an account brings nothing. One look reads about 1,000 transactions; the next
   * one goes on there, and reads none of them again while the ledger is open. An attribution and no proof: nodes have left
   * entries out, so compare its sum with what the accounts hold; and exchanges pay for many.
   */
  payersOf(owner: Address, mints: readonly Address[], search: PayerQuery): Promise<Evidence<InflowHistory>>;
}
