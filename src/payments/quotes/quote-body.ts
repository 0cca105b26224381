/** A quote as its caller sees it. */
import type { QuoteRecord } from "../tables/orders.ts";
import { formatAmount } from "../../amount.ts";
import type { Assets } from "../assets/assets.ts";
import { isoTime } from "../iso-time.ts";
import { isExpired } from "./check-quote.ts";
import type { PricedQuote } from "./priced-quote.ts";

/** Fees as decimal strings in whole units of `feeAsset`. */
export interface QuoteFees {
  readonly network: string;
  readonly routing: string;
  readonly rent: string;
}

/** The answer to a refresh of a quote: the quote's own four fields and what else changed. */
export interface RefreshedQuoteBody {
  readonly quoteId: string;
  readonly outputAmount: string;
  /** The price impact in percent. */
  readonly priceImpact: number;
  readonly expiresAt: string;
  readonly inputAmount: string;
  readonly fee: string;
  readonly fees: QuoteFees;
  /** The least output; for swaps only. */
  readonly minOutputAmount?: string;
  /** The unsigned transaction in base64, when the quote has a sender and, unless it is a swap, recipients. */
  readonly transaction?: string;
}

/** The answer to POST /v1/quotes. */
export interface QuoteBody extends RefreshedQuoteBody {
  readonly inputAsset: string;
  readonly outputAsset: string;
  readonly minOutputAmount: string;
  readonly feeAsset: string;
  readonly mode: "wallet" | "private";
  readonly slippageBps: number;
  /** The version of the transaction to sign, where the quote asked for one. */
  readonly transactionVersion?: 1;
  readonly createdAt: string;
}

/** A quote as it stands. The transaction to sign is answered when the quote is made or refreshed, and not again. */
export interface ShownQuoteBody extends Omit<QuoteBody, "transaction"> {
  readonly status: "open" | "expired" | "used";
  /** The transaction that used it up; null while none has. */
  readonly transactionId: string | null;
}

/** The answer's fields that are not in the quote's record. */
type Shown = Pick<PricedQuote, "priceImpact" | "transaction">;

export function refreshedBody(assets: Assets, quote: QuoteRecord, shown: Shown): RefreshedQuoteBody {
  const { inputMint, outputMint } = quote;
  return {
    ...commonBody(assets, quote, shown),
    ...(inputMint === outputMint ? {} : { minOutputAmount: least(assets, quote) }),
  };
}

export function quoteBody(assets: Assets, quote: QuoteRecord, shown: Shown): QuoteBody {
  return {
    ...commonBody(assets, quote, shown),
    inputAsset: assets.named(quote.inputMint).symbol,
    outputAsset: assets.named(quote.outputMint).symbol,
    minOutputAmount: least(assets, quote),
    feeAsset: assets.named(quote.feeMint).symbol,
    mode: quote.mode,
    slippageBps: quote.slippageBps,
    ...(quote.transactionVersion === null ? {} : { transactionVersion: quote.transactionVersion }),
    createdAt: isoTime(quote.createdAt),
  };
}

export function shownQuoteBody(assets: Assets, quote: QuoteRecord, now: number): ShownQuoteBody {
  const { usedBy, priceImpact } = quote;
  const unused = isExpired(quote, now) ? "expired" : "open";
  return {
    ...quoteBody(assets, quote, { priceImpact: Number(priceImpact), transaction: null }),
    status: usedBy === null ? unused : "used",
    transactionId: usedBy,
  };
}

function commonBody(
  assets: Assets,
  quote: QuoteRecord,
  { priceImpact, transaction }: Shown,
): Omit<RefreshedQuoteBody, "minOutputAmount"> {
  const input = assets.named(quote.inputMint);
  const output = assets.named(quote.outputMint);
  const fees = assets.named(quote.feeMint);
  const fee = (amount: bigint): string => formatAmount(amount, fees.decimals);
  return {
    quoteId: quote.id,
    outputAmount: formatAmount(quote.outputAmount, output.decimals),
    priceImpact,
    expiresAt: isoTime(quote.expiresAt),
    inputAmount: formatAmount(quote.inputAmount, input.decimals),
    fee: fee(quote.networkFee + quote.routingFee + quote.rent),
    fees: { network: fee(quote.networkFee), routing: fee(quote.routingFee), rent: fee(quote.rent) },
    ...(transaction === null ? {} : { transaction }),
  };
}

function least(assets: Assets, { outputMint, minOutputAmount }: QuoteRecord): string {
  return formatAmount(minOutputAmount, assets.named(outputMint).decimals);
}
