/** Refunds of wallet mode: a send back to who has paid, counted against what was paid for as long as its bytes may land. */
import { formatAmount } from "../../../core/amount.ts";
import { fieldError, PaymentError } from "../../../errors/errors.ts";
import type { FrameWrite } from "../frame-storage.ts";
import type { DeclaredTransaction } from "../quotes/checked-request.ts";
import type { QuoteRecord } from "../tables/orders.ts";
import { detailedTransactions, type DetailedTransaction, type TransactionParts } from "./read-transaction.ts";

/** A payment is refunded in so many parts at most. */
const MAX_REFUNDS = 100;

/** The row that counts a refund, named after its transaction. */
export const countOf = (transactionId: string): string => `refund ${transactionId}`;

/** A refund that fits what it refunds. */
export interface CheckedRefund {
  /** Counts it in the commit that takes it, which is refused where another refund has taken the room meanwhile. */
  reserve(transactionId: string, createdAt: number): FrameWrite;
}

type RefundParts = Pick<TransactionParts, "storage" | "assets" | "modes">;

/**
 * Null for what is no refund. Throws `VALIDATION_ERROR` with the field, the same for a payment that cannot be refunded and for
 * one that is not there, and `AMOUNT_TOO_LARGE` for more than is left of what its recipients were paid.
 */
export async function checkRefund(
  { storage, assets, modes }: RefundParts,
  { accountId, refundOf, transfers }: DeclaredTransaction,
  quote: QuoteRecord,
): Promise<CheckedRefund | null> {
  if (refundOf === null) return null;
  const [view = null] = await detailedTransactions({ storage, modes }, [refundOf]);
  const paid = view === null || view.transaction.accountId !== accountId ? null : paidBy(view);
  if (view === null || paid === null) {
    throw fieldError("refundOf", "expected a paid send or payroll of this account that is no refund itself");
  }
  const { sender, outputMint } = view.transaction;
  if (quote.outputMint !== outputMint) {
    throw fieldError("refundOf", `expected a payment of ${assets.named(quote.outputMint).symbol}`);
  }
  const [transfer] = transfers;
  if (transfer?.recipient !== sender) {
    throw fieldError("recipients.0.address", `expected ${sender}, the sender of the payment`);
  }
  const before = await storage.refundsOf([refundOf]);
  if (before.length >= MAX_REFUNDS) {
    throw fieldError("refundOf", `expected a payment with fewer than ${MAX_REFUNDS} refunds`);
  }
  const resource = `refunds ${refundOf}`;
  const left = paid - (await storage.reserved(resource));
  if (transfer.amount > left) {
    const maximum = formatAmount(left > 0n ? left : 0n, assets.named(outputMint).decimals);
    throw new PaymentError("AMOUNT_TOO_LARGE", { maximum });
  }
  const { amount } = transfer;
  return {
    reserve: (transactionId, createdAt) => ({
      table: "reservations",
      insert: {
        id: countOf(transactionId),
        version: 1,
        resource,
        amount,
        createdAt,
        lapsesAt: null,
        releasedAt: null,
      },
      atMost: { total: paid },
    }),
  };
}

/** The sum of the paid recipients, in base units; null for what cannot be refunded. */
function paidBy({ transaction, recipients, details }: DetailedTransaction): bigint | null {
  const { type, status, reason, landedAfterCancel, refundOf } = transaction;
  const hasPaid = status === "completed" || reason === "PARTIAL_PAYOUT" || landedAfterCancel;
  if (type === "swap" || refundOf !== null || !hasPaid) return null;
  return recipients
    .filter((share) => details.outcomeOf(share).status === "paid")
    .reduce((sum, { amount }) => sum + amount, 0n);
}
