/** Refunds of wallet mode: a send back to who has paid, counted against what was paid for as long as its bytes may land. */
import { formatAmount } from "../../core/amount.ts";
import { fieldError, PaymentError } from "../../errors/errors.ts";
import type { PaymentWrite } from "../frame/payment-storage.ts";
import type { DeclaredTransaction } from "../frame/quotes/checked-request.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import type { QuoteRecord, TransactionRecord, TransactionView } from "../frame/tables/orders.ts";
import { countOf } from "../wallet/refund-count.ts";
import { isPaid } from "./recipient-outcome.ts";

/** A payment is refunded in so many parts at most. */
const MAX_REFUNDS = 100;

/** A refund that fits what it refunds. */
export interface CheckedRefund {
  /** Counts it in the commit that takes it, which is refused where another refund has taken the room meanwhile. */
  reserve(transactionId: string, createdAt: number): PaymentWrite;
}

type RefundParts = Pick<ServiceContext, "storage" | "assets">;

/**
 * Null for what is no refund. Throws `VALIDATION_ERROR` with the field, the same for a payment that cannot be refunded and for
 * one that is not there, and `AMOUNT_TOO_LARGE` for more than is left of what its recipients were paid.
 */
export async function checkRefund(
  { storage, assets }: RefundParts,
  { accountId, refundOf, transfers }: DeclaredTransaction,
  quote: QuoteRecord,
): Promise<CheckedRefund | null> {
  if (refundOf === null) return null;
  const view = await storage.transaction(refundOf);
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

/** What its recipients were paid, in base units; null for what cannot be refunded. */
function paidBy({ transaction, recipients }: TransactionView): bigint | null {
  const { type, status, reason, landedAfterCancel, refundOf } = transaction;
  const hasPaid = status === "completed" || reason === "PARTIAL_PAYOUT" || landedAfterCancel;
  if (type === "swap" || refundOf !== null || !hasPaid) return null;
  return recipients
    .filter((share) => isPaid(share, transaction))
    .reduce((sum, { amount }) => sum + amount, 0n);
}

/** What was refunded of a payment, as its owner sees it. `refunds` are those that were taken for it, oldest first. */
export function refundedBody(
  { id, outputMint }: TransactionRecord,
  refunds: readonly TransactionRecord[],
  assets: ServiceContext["assets"],
): { readonly refundedAmount: string; readonly refundedBy: readonly string[] } {
  const own = refunds.filter(({ refundOf }) => refundOf === id);
  const landed = own.filter(({ status, landedAfterCancel }) => status === "completed" || landedAfterCancel);
  const sum = landed.reduce((total, { outputAmount }) => total + outputAmount, 0n);
  return {
    refundedAmount: formatAmount(sum, assets.named(outputMint).decimals),
    refundedBy: own.map((refund) => refund.id),
  };
}
