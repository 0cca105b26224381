/** A priced quote of any kind. */
import type { QuoteRecord } from "../tables/orders.ts";
import type { PaymentWrite } from "../payment-storage.ts";

/** Inputs of a price: everything that a refresh keeps. */
export type QuoteInput = Pick<
  QuoteRecord,
  | "id"
  | "mode"
  | "accountId"
  | "inputMint"
  | "outputMint"
  | "sender"
  | "recipients"
  | "slippageBps"
  | "transactionVersion"
  | "createdAt"
> & {
  /** The requested amount: in swaps base units of the given asset, otherwise of the asset that recipients receive. */
  readonly amount: bigint;
  /** The version of the quote that this price will be, and when that version ends. */
  readonly version: number;
  readonly expiresAt: number;
  /** The swap of the version before, null when there is none. */
  readonly swap: string | null;
};

/** A price, and in wallet mode the transaction to sign. */
export interface PricedQuote {
  readonly priced: Pick<
    QuoteRecord,
    | "inputAmount"
    | "outputAmount"
    | "minOutputAmount"
    | "networkFee"
    | "routingFee"
    | "rent"
    | "pricedAccounts"
    | "swap"
    | "tip"
  >;
  /** The price impact in percent. */
  readonly priceImpact: number;
  /** The unsigned transaction in base64, null where there is not enough to build one. */
  readonly transaction: string | null;
  /** Writes for the commit of the quote. */
  readonly writes: readonly PaymentWrite[];
}
