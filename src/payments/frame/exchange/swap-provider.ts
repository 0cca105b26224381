/** The port of a swap provider, which exchanges assets in both modes. */
import type { AskPart } from "../host-parts.ts";
import type { Address } from "../../../core/address.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { TransactionPlan, UnsignedTransaction } from "../../../ledger/routing.ts";
import type { Signer } from "../../../ledger/sign-transaction.ts";
import type { Clock, Logger } from "../../../core/runtime.ts";
import type { Token } from "../assets/assets.ts";

/**
 * A source of swaps. `deskProvider` trades out of the operator's own inventory. `jupiterProvider` quotes from a market and
 * hands over what the market has built; it has no `direct`, since a stranger's transaction cannot begin with our marker,
 * and so serves wallet mode only. The chain alone settles a swap, whatever a provider answers: its identity is the user's
 * signature, and it has succeeded when that is finalized, and failed when it is proved dead.
 */
export interface SwapProvider {
  /** The name in log lines. */
  readonly name: string;
  /** Called once, when the service is made. Opens no connection. */
  connect(surroundings: ProviderContext): Swapper;
}

/** Dependencies that the service lends to a provider. */
export interface ProviderContext {
  readonly ledger: Ledger;
  /** The assets that can be swapped, SOL by its wrapped mint. */
  readonly tokens: readonly Token[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Calls a part that may not answer, such as a signer: with a deadline, and operators are told of its silence. */
  readonly ask?: AskPart;
}

/** The wanted swap. */
export interface WantedSwap {
  readonly give: Token;
  readonly get: Token;
  /** Base units of `give` that reach the provider. */
  readonly amount: bigint;
  /** For whom: an account's share of what a provider has is limited. */
  readonly accountId: string;
  /** The wallet that gives and gets, in wallet mode as soon as it is known. */
  readonly taker?: Address;
  /** How much less than its price the taker accepts, in hundredths of a percent. */
  readonly slippageBps?: number;
}

/** A limited resource that an open offer uses. */
export interface WantedReservation {
  /** The name of the limited resource, such as an asset of a desk. */
  readonly resource: string;
  readonly amount: bigint;
  /**
   * The highest allowed total of the resource, this reservation included; null when the amount is only recorded. Check
   * and reservation are atomic: above the total nothing is reserved, and the swap is offered again.
   */
  readonly most: bigint | null;
  /**
   * How long the amount still counts after the swap was made, in milliseconds, such as a day for a limit per day.
   * Absent: the amount is free again at once. A swap that was not made stops counting in any case.
   */
  readonly countsForMs?: number;
}

/** A price. */
export interface SwapOffer {
  /** Base units of `get`, rounded down: the taker gets at least this. */
  readonly outputAmount: bigint;
  /** The part of the price that is worse than the market because of the swap's size alone, in percent. */
  readonly priceImpact: number;
  readonly reservations: readonly WantedReservation[];
  /** Words of the provider's own, handed to `build` when the transaction is built at this price. */
  readonly ticket?: string;
}

/** A swap as it was offered. */
export interface OfferedSwap {
  readonly give: Token;
  readonly get: Token;
  readonly inputAmount: bigint;
  readonly outputAmount: bigint;
}

/** The amount of a resource promised to open quotes and to swaps under way. */
export type ReservedAmountLookup = (resource: string) => Promise<bigint>;

/** A wallet's swap at an offered price. */
export interface WalletSwap extends OfferedSwap {
  readonly sender: Address;
  /** A random key that makes this transaction unique; see `Move`. */
  readonly reference: Address;
  /** The `ticket` of the offer, null where it had none. */
  readonly ticket: string | null;
}

/** The transaction of a wallet's swap, of which the sender is the fee payer. */
export interface BuiltSwap {
  readonly unsigned: UnsignedTransaction;
  /** The moves of the transaction; null when only the provider knows them. A plan makes errors clearer. */
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

/** A provider at work. */
export interface Swapper {
  /**
   * Throws `StartRefused` when it must not be used on this chain. Called by every `start()`, before the ledger may be
   * asked: the ledger may still answer about a wrong chain.
   */
  check(genesisHash: string): Promise<void>;
  /** Writes log lines about what it lacks. Called after `check`, once the ledger may be asked. */
  warn?(): Promise<void>;
  /**
   * The queue of an offer: offers with the same key depend on each other, and are made one by one. Null when offers can
   * be made in parallel. Pure.
   */
  queueOf(wanted: Pick<WantedSwap, "give" | "get">): string | null;
  /**
   * The price now. Throws `PaymentError` INSUFFICIENT_LIQUIDITY with the `available` amount, in whole units of `get`,
   * when the provider has too little. Every other error says that the provider is unavailable.
   */
  offer(wanted: WantedSwap, promised: ReservedAmountLookup): Promise<SwapOffer>;
  /**
   * True where the transaction itself states the least output, and nothing is set aside for it: an order asks for
   * no second offer. Swaps of other providers are offered anew once nothing is set aside for them any more.
   */
  readonly isFirm?: true;
  /**
   * Whether the provider would still make this swap at the offered price. Asked when a signed swap is taken, and
   * again before `complete`; if false, nothing is signed. The price of a private swap is asked when it is signed. An error means that the
   * provider is unavailable: nothing is signed, and the question is repeated. Without this method, an offered price is
   * firm.
   */
  isStillGood?(offered: OfferedSwap): Promise<boolean>;
  /** Builds the transaction in which the sender gives and gets, or nothing happens. The sender pays its costs. */
  build(swap: WalletSwap): Promise<BuiltSwap>;
  /**
   * Adds the provider's signature and returns the complete bytes, which are stored before the broadcast; or broadcasts
   * itself and returns null. Called only for the newest transaction of a quote, after "broadcast started" was
   * committed, and again after a crash: the message stays the same, so the chain accepts the transaction once. An error
   * is no failure of the swap: the call is repeated until the transaction is proved dead.
   */
  complete(signed: SenderSignedSwap): Promise<Uint8Array | null>;
  /** Symbols of assets of which it may give everything it has within a day. Left out where nothing is known of it. */
  readonly unlimited?: readonly string[];
  /** The private half: who pays the payee in a transaction of ours. Null for a provider that cannot swap within one. */
  readonly direct: { readonly signer: Signer } | null;
}
