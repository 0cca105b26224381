/** The quotes of a way to pay: a module brings a `QuoteWay` for the transactions that this module takes. */
import type { QuoteRecord } from "../tables/orders.ts";
import type { Token } from "../assets/assets.ts";
import type { PricedQuote, QuoteInput } from "./priced-quote.ts";
import type { QuoteWarning } from "./quote-parties.ts";

/** The assets and amounts on both sides, and the time. */
export interface PricedPair {
  readonly give: Token;
  readonly get: Token;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** The mode of a transaction, and whether it swaps: by these, and nothing else, its way is found. */
export interface Asked {
  readonly mode: QuoteRecord["mode"];
  readonly isSwap: boolean;
}

/**
 * The quotes of one way to pay. Its checks throw the errors of POST /v1/transactions, so that a caller learns of a fault before
 * anybody signs; a fact that may still change is a warning.
 */
export interface QuoteWay {
  takes(asked: Asked): boolean;
  /** Milliseconds that a price is promised for. */
  readonly lifeMs: number;
  /** The mint that its fee is paid in. */
  feeMint(pair: Pick<PricedPair, "give">): string;
  /** Quotes of one queue are made one after the other: their commits would make each other fail. Null without one. */
  queueOf(pair: Pick<PricedPair, "give" | "get">): string | null;
  /** Refuses more recipients than it takes, before any of them is looked at. */
  checkCount(recipients: number): void;
  /** The warnings about sender and recipients, as the chain tells. */
  checkParties(inputs: QuoteInput): Promise<readonly QuoteWarning[]>;
  /** The price, which asks others than the chain only once the parties were checked. */
  price(inputs: QuoteInput, pair: PricedPair, parties: Promise<unknown>): Promise<PricedQuote>;
  /** The warnings about the sender at the price that is being made. */
  checkSender(inputs: QuoteInput, priced: Promise<PricedQuote["priced"]>): Promise<readonly QuoteWarning[]>;
}
