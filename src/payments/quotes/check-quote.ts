/** Checks a transaction against its quote: everything that the caller declares must match the quote. */
import type { QuoteRecord } from "../tables/orders.ts";
import { PaymentError, type ErrorDetails } from "../../errors.ts";
import type { Transfer } from "../../ledger/ledger.ts";
import type { Token } from "../assets/assets.ts";
import { isoTime } from "../iso-time.ts";
import type { DeclaredTransaction } from "./checked-request.ts";
import { refuseTooLarge, totalOf } from "../assets/amount-errors.ts";

/**
 * Returns the quote, or throws `INVALID_QUOTE` with the first reason why it cannot stand behind this transaction. Who is
 * paid how much is judged by `checkShares`.
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
  if (isBound && quote.sender !== declared.sender) throw invalid("sender_mismatch");
  return quote;
}

/** Whether no transaction is accepted under the quote before a refresh. */
export function isExpired({ expiresAt, closedAt }: QuoteRecord, now: number): boolean {
  return expiresAt <= now || closedAt !== null;
}

/**
 * Throws `INVALID_QUOTE` when other recipients are declared than were quoted, or another sum; `AMOUNT_TOO_LARGE` when the
 * sum is more than the ledger can hold. `asset` is the quoted one.
 */
export function checkShares(quote: QuoteRecord, transfers: readonly Transfer[], asset: Token): void {
  const { id: quoteId, recipients, outputAmount } = quote;
  const sum = totalOf(transfers);
  refuseTooLarge(sum, asset);
  if (recipients !== null && !sameShares(recipients, transfers)) {
    throw new PaymentError("INVALID_QUOTE", { quoteId, reason: "recipients_mismatch" });
  }
  if (sum !== outputAmount) throw new PaymentError("INVALID_QUOTE", { quoteId, reason: "amount_mismatch" });
}

function sameShares(bound: NonNullable<QuoteRecord["recipients"]>, declared: readonly Transfer[]): boolean {
  // Addresses differ within each list, so equal length and a match for each make the lists equal in any order.
  return (
    bound.length === declared.length &&
    declared.every((leg) =>
      bound.some(({ address, amount }) => address === leg.recipient && amount === leg.amount),
    )
  );
}
