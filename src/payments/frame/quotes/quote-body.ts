/** A quote as its caller sees it, and what a transaction declares of it: everything must match. */
import type { QuotedRecipient, QuoteRecord } from "../tables/orders.ts";
import { formatAmount } from "../../../core/amount.ts";
import type { Assets, Token } from "../assets/assets.ts";
import { isoTime } from "../iso-time.ts";
import type { quoteSchema, refreshedQuote, shownQuote } from "./quote-schema.ts";
import type { z } from "zod";
import type { Immutable } from "../../../core/immutable.ts";
import type { PricedQuote } from "./priced-quote.ts";
import { PaymentError, type ErrorDetails } from "../../../errors/errors.ts";
import type { TransactionRequest } from "../requests.ts";
import type { PayeeTransfer } from "../recipients/recipients.ts";
import type { DeclaredTransaction } from "./checked-request.ts";
import { refuseTooLarge, totalOf } from "../assets/amount-errors.ts";

/** The answer to POST /v1/quotes. @interface */
export type QuoteBody = Immutable<z.output<typeof quoteSchema>>;

/** A quote as it stands, without the transaction to sign. @interface */
export type ShownQuoteBody = Immutable<z.output<typeof shownQuote>>;

/** The answer to a refresh of a quote: the quote's own four fields and what else changed. @interface */
export type RefreshedQuoteBody = Immutable<z.output<typeof refreshedQuote>>;

/** The facts that are told once, when a quote is made or refreshed. */
type ToldOnce = Pick<QuoteBody, "warnings"> & Pick<PricedQuote, "transaction">;

export function refreshedBody(assets: Assets, quote: QuoteRecord, told: ToldOnce): RefreshedQuoteBody {
  const { inputMint, outputMint } = quote;
  return {
    ...priceBody(assets, quote),
    ...toldBody(told),
    ...(inputMint === outputMint ? {} : { minOutputAmount: least(assets, quote) }),
  };
}

export function quoteBody(assets: Assets, quote: QuoteRecord, told: ToldOnce): QuoteBody {
  return { ...standingBody(assets, quote), ...toldBody(told) };
}

export function shownQuoteBody(assets: Assets, quote: QuoteRecord, now: number): ShownQuoteBody {
  const { usedBy } = quote;
  const unused = isExpired(quote, now) ? "expired" : "open";
  return {
    ...standingBody(assets, quote),
    status: usedBy === null ? unused : "used",
    transactionId: usedBy,
  };
}

function toldBody({ warnings, transaction }: ToldOnce): Pick<QuoteBody, "warnings" | "transaction"> {
  return transaction === null ? { warnings } : { warnings, transaction };
}

function standingBody(assets: Assets, quote: QuoteRecord): Omit<ShownQuoteBody, "status" | "transactionId"> {
  const { sender, senderAllowOffCurve, recipients, transactionVersion } = quote;
  const output = assets.named(quote.outputMint);
  return {
    ...priceBody(assets, quote),
    inputAsset: assets.named(quote.inputMint).symbol,
    outputAsset: output.symbol,
    minOutputAmount: least(assets, quote),
    feeAsset: assets.named(quote.feeMint).symbol,
    mode: quote.mode,
    slippageBps: quote.slippageBps,
    ...(transactionVersion === null ? {} : { transactionVersion }),
    createdAt: isoTime(quote.createdAt),
    ...(sender === null ? {} : { sender }),
    ...(senderAllowOffCurve ? { senderAllowOffCurve } : {}),
    ...(recipients === null ? {} : { recipients: recipients.map((leg) => recipientBody(leg, output)) }),
  };
}

function recipientBody(
  { address, amount, allowOffCurve }: QuotedRecipient,
  { decimals }: Token,
): NonNullable<QuoteBody["recipients"]>[number] {
  const share = { address, amount: formatAmount(amount, decimals) };
  return allowOffCurve ? { ...share, allowOffCurve } : share;
}

function priceBody(
  assets: Assets,
  quote: QuoteRecord,
): Omit<RefreshedQuoteBody, "minOutputAmount" | keyof ReturnType<typeof toldBody>> {
  const input = assets.named(quote.inputMint);
  const output = assets.named(quote.outputMint);
  const fees = assets.named(quote.feeMint);
  const fee = (amount: bigint): string => formatAmount(amount, fees.decimals);
  return {
    quoteId: quote.id,
    outputAmount: formatAmount(quote.outputAmount, output.decimals),
    priceImpact: Number(quote.priceImpact),
    expiresAt: isoTime(quote.expiresAt),
    inputAmount: formatAmount(quote.inputAmount, input.decimals),
    fee: fee(quote.networkFee + quote.routingFee + quote.rent),
    fees: { network: fee(quote.networkFee), routing: fee(quote.routingFee), rent: fee(quote.rent) },
  };
}

function least(assets: Assets, { outputMint, minOutputAmount }: QuoteRecord): string {
  return formatAmount(minOutputAmount, assets.named(outputMint).decimals);
}

/**
 * Returns the quote, or throws `INVALID_QUOTE` with the first reason why it cannot stand behind this transaction.
 * `checkShares` judges the payees and their amounts.
 */
export function checkQuote(
  quote: QuoteRecord | null,
  declared: DeclaredTransaction,
  now: number,
): QuoteRecord {
  const { quoteId } = declared;
  const invalid = (reason: ErrorDetails["INVALID_QUOTE"]["reason"]): PaymentError<"INVALID_QUOTE"> =>
    new PaymentError("INVALID_QUOTE", {
      quoteId,
      reason,
      ...(quote !== null && reason === "expired" ? { expiresAt: isoTime(quote.expiresAt) } : {}),
    });

  // Another account's quote counts as unknown: its existence is not shown to others.
  if (quote === null || quote.accountId !== declared.accountId) throw invalid("not_found");
  if (quote.usedBy !== null) throw invalid("used");
  if (isExpired(quote, now)) throw invalid("expired");
  if (quote.mode !== declared.mode) throw invalid("mode_mismatch");
  const sameAsset = quote.inputMint === quote.outputMint;
  if (declared.type === "swap" && sameAsset) throw invalid("same_asset");
  if (declared.type !== "swap" && !sameAsset) throw invalid("asset_mismatch");
  // A wallet's swap is the transaction that its quote gave out, and that is made for a sender.
  const mustName = declared.type === "swap" && declared.mode === "wallet";
  const isBound = mustName || quote.sender !== null;
  if (isBound && !isSameSender(quote, declared)) throw invalid("sender_mismatch");
  return quote;
}

/** Throws `INVALID_QUOTE` when another asset is named than was quoted. */
export function checkAssets(
  quote: QuoteRecord,
  { inputAsset, outputAsset }: Pick<TransactionRequest, "inputAsset" | "outputAsset">,
  assets: Assets,
): void {
  const isQuoted = (named: string | undefined, mint: string): boolean =>
    named === undefined || named === mint || named === assets.named(mint).symbol;
  if (isQuoted(inputAsset, quote.inputMint) && isQuoted(outputAsset, quote.outputMint)) return;
  throw new PaymentError("INVALID_QUOTE", { quoteId: quote.id, reason: "asset_mismatch" });
}

function isSameSender(quote: QuoteRecord, declared: DeclaredTransaction): boolean {
  return quote.sender === declared.sender && quote.senderAllowOffCurve === declared.senderAllowOffCurve;
}

/** Whether no transaction is accepted under the quote before a refresh. */
function isExpired({ expiresAt, closedAt }: QuoteRecord, now: number): boolean {
  return expiresAt <= now || closedAt !== null;
}

/**
 * Throws `INVALID_QUOTE` when other recipients are declared than were quoted, or another sum; `AMOUNT_TOO_LARGE` when the
 * sum is more than the ledger can hold. `asset` is the quoted one.
 */
export function checkShares(quote: QuoteRecord, transfers: readonly PayeeTransfer[], asset: Token): void {
  const { id: quoteId, recipients, outputAmount } = quote;
  const sum = totalOf(transfers);
  refuseTooLarge(sum, asset);
  if (recipients !== null && !sameShares(recipients, transfers)) {
    throw new PaymentError("INVALID_QUOTE", { quoteId, reason: "recipients_mismatch" });
  }
  if (sum !== outputAmount) throw new PaymentError("INVALID_QUOTE", { quoteId, reason: "amount_mismatch" });
}

function sameShares(
  bound: NonNullable<QuoteRecord["recipients"]>,
  declared: readonly PayeeTransfer[],
): boolean {
  // Addresses differ within each list, so equal length and a match for each make the lists equal in any order.
  return (
    bound.length === declared.length &&
    declared.every(({ recipient, amount, allowOffCurve }) =>
      bound.some(
        (leg) => leg.address === recipient && leg.amount === amount && leg.allowOffCurve === allowOffCurve,
      ),
    )
  );
}
