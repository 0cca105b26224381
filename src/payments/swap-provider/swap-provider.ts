/** The port of a swap provider: it swaps one asset for another, in both modes. */
import type { AskPart } from "../host-parts.ts";
import type { Address } from "../../address.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Move, TransactionPlan, UnsignedTransaction } from "../../ledger/routing.ts";
import type { Signer } from "../../ledger/sign-transaction.ts";
import type { Clock, Logger } from "../../runtime.ts";
import type { Token } from "../assets/assets.ts";

/**
 * Where swaps come from. `deskProvider` is one: it trades out of the operator's own inventory. Another one quotes from a
 * market and hands its transactions over, as Jupiter does: `offer` would be its price, `build` its `GET /order`, whose
 * `transaction` is passed on and whose `requestId` is the `ticket`, `complete` its `POST /execute`, answered with null
 * because Jupiter sends the transaction itself; it would have no `direct`, since a foreign transaction cannot begin with
 * our marker, so that it serves wallet mode only. Whatever a provider answers, a swap is settled by the chain alone: its
 * identity is the user's signature, and it has succeeded when that is finalized, and failed when it is proved dead.
 */
export interface SwapProvider {
  /** In log lines. */
  readonly name: string;
  /** Called once, when the service is made. Opens no connection. */
  connect(surroundings: ProviderContext): Swapper;
}

/** What a provider is lent. */
export interface ProviderContext {
  readonly ledger: Ledger;
  /** The assets that can be swapped, SOL by its wrapped mint. */
  readonly tokens: readonly Token[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Asks what may not answer, such as a signer: with a deadline, and operators are told of its silence. */
  readonly ask?: AskPart;
}

/** What is to be swapped for what. */
export interface WantedSwap {
  readonly give: Token;
  readonly get: Token;
  /** Base units of `give` that reach the provider. */
  readonly amount: bigint;
  /** For whom: an account's share of what a provider has is limited. */
  readonly accountId: string;
}

/** Something limited that an offer takes up while it is open. */
export interface WantedReservation {
  /** What is limited, such as one asset of one desk. */
  readonly resource: string;
  readonly amount: bigint;
  /**
   * What the resource may add up to with this reservation, null when it is only to be known. Looking and reserving are
   * one act; where it would be more, nothing is kept and the swap is offered again.
   */
  readonly most: bigint | null;
  /**
   * How long the amount still counts once the swap was made, in milliseconds, such as a day for a limit per day. Left
   * out, it is free again at once. What was not made counts no more in either case.
   */
  readonly countsForMs?: number;
}

/** A price. */
export interface SwapOffer {
  /** Base units of `get`, rounded down. */
  readonly outputAmount: bigint;
  /** How much worse than the market this is for its size alone, in percent. */
  readonly priceImpact: number;
  readonly reservations: readonly WantedReservation[];
}

/** A swap as it was offered. */
export interface OfferedSwap {
  readonly give: Token;
  readonly get: Token;
  readonly inputAmount: bigint;
  readonly outputAmount: bigint;
}

/** How much of a resource is promised to open quotes and to swaps under way. */
export type ReservedAmountLookup = (resource: string) => Promise<bigint>;

/** A wallet's swap at a price that was offered. */
export interface WalletSwap extends OfferedSwap {
  readonly sender: Address;
  /** A key of no meaning that makes this transaction unlike any other; see `Move`. */
  readonly reference: Address;
}

/** The transaction of a wallet's swap, of which the sender is the fee payer. */
export interface BuiltSwap {
  readonly unsigned: UnsignedTransaction;
  /** What it consists of, null when only its provider knows. With it, errors are explained better. */
  readonly plan: TransactionPlan | null;
  /** Lamports that the sender pays for a token account. */
  readonly rent: bigint;
  /** Words of the provider's own, handed back when the transaction is to be completed. */
  readonly ticket: string | null;
}

/** A transaction as the sender signed it: the very message that was built. */
export interface SenderSignedSwap extends BuiltSwap {
  readonly sender: Address;
  readonly signature: Uint8Array;
  /** Wire format, with zeros for the signatures that are missing. */
  readonly bytes: Uint8Array;
}

/** A private swap at a price that was offered. */
export interface DirectSwap extends OfferedSwap {
  /** The deposit address that gives. */
  readonly from: Address;
  /** The payee that gets. */
  readonly to: Address;
  /** Who pays for the payee's token account. */
  readonly accountPayer: Address;
}

/** A provider at work. */
export interface Swapper {
  /**
   * Throws `StartRefused` when it must not be used on this chain. Called by every `start()`, before the ledger may be asked:
   * its answers may be of another chain still.
   */
  check(genesisHash: string): Promise<void>;
  /** Writes log lines about what it lacks. Called after `check`, once the ledger may be asked. */
  warn?(): Promise<void>;
  /**
   * Under which key offers depend on one another, so that they are better made one after another; null when any number
   * of them can be made at once. Pure.
   */
  queueOf(wanted: Pick<WantedSwap, "give" | "get">): string | null;
  /**
   * The price now. Throws `PaymentError` INSUFFICIENT_LIQUIDITY with what is `available`, in whole units of `get`, when it
   * has not enough; anything else it throws means that it cannot be asked.
   */
  offer(wanted: WantedSwap, promised: ReservedAmountLookup): Promise<SwapOffer>;
  /**
   * Whether the provider would still make this swap at the price it offered. Asked when a signed swap is taken, again
   * before `complete`, and before a private swap is signed; where it is false, nothing is signed. What it throws means
   * that it cannot be asked: then nothing is signed either, and it is asked again. Left out, an offered price is firm.
   */
  isStillGood?(offered: OfferedSwap): Promise<boolean>;
  /** Builds the transaction in which the sender gives and gets, or nothing happens. The sender pays its costs. */
  build(swap: WalletSwap): Promise<BuiltSwap>;
  /**
   * Adds the provider's own signature and answers the whole bytes, which are stored before they are sent; or sends them
   * itself and answers null. Asked only for the newest transaction of a quote, after "broadcast started" was committed,
   * and asked again after a crash: the message is the same, so the chain takes it once. What it throws is no failure of
   * the swap; it is asked again until the transaction is proved dead.
   */
  complete(signed: SenderSignedSwap): Promise<Uint8Array | null>;
  /** The private half, null for a provider that cannot swap within a transaction of ours. */
  readonly direct: {
    readonly signer: Signer;
    /** From the deposit address to the provider, and from the provider straight to the payee: the last move. */
    moves(swap: DirectSwap): readonly Extract<Move, { does: "transfer" }>[];
  } | null;
}
