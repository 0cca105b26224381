/** The outcome of a recipient's share, as far as known. */
import type { RecipientRecord, TransactionRecord } from "../tables/orders.ts";
import type { PaymentRecord } from "../tables/payments.ts";

/** `pending` and `confirmed` may change; `paid` and `unpaid` are final. */
export type RecipientStatus = "pending" | "confirmed" | "paid" | "unpaid";

/** With the signature of the transaction that pays the recipient, null while there is none. */
export interface RecipientOutcome {
  readonly status: RecipientStatus;
  readonly signature: string | null;
}

export function recipientOutcome(
  share: RecipientRecord,
  transaction: TransactionRecord,
  payments: readonly PaymentRecord[],
): RecipientOutcome {
  return transaction.mode === "wallet" ? ofBytes(transaction) : ofPayments(share, transaction, payments);
}

const OF_BYTES: Readonly<Partial<Record<TransactionRecord["status"], RecipientStatus>>> = {
  confirmed: "confirmed",
  completed: "paid",
  failed: "unpaid",
  cancelled: "unpaid",
};

/** In wallet mode one transaction pays all recipients or none, so every recipient has the transaction's outcome. */
function ofBytes(transaction: TransactionRecord): RecipientOutcome {
  const { status: shown, signature, landedSignature, landedAfterCancel } = transaction;
  // A cancelled transaction whose caller broadcast the bytes anyway.
  const status = landedAfterCancel ? "paid" : (OF_BYTES[shown] ?? "pending");
  const hasLanded = status === "confirmed" || status === "paid";
  return { status, signature: hasLanded ? (landedSignature ?? signature) : null };
}

/** In private mode each share is paid by one of several transactions. */
function ofPayments(
  share: RecipientRecord,
  { status }: TransactionRecord,
  payments: readonly PaymentRecord[],
): RecipientOutcome {
  if (share.status === "paid") return { status: "paid", signature: share.signature };
  const isOver = status === "completed" || status === "failed" || status === "cancelled";
  if (isOver) return { status: "unpaid", signature: share.signature };
  const landed = payments.find((payment) => isSeen(payment) && pays(payment, share));
  return landed === undefined
    ? { status: "pending", signature: share.signature }
    : { status: "confirmed", signature: landed.signature };
}

/** A payment that is final is still to be reported to its order: until then its shares are confirmed. */
function isSeen({ status }: PaymentRecord): boolean {
  return status === "confirmed" || status === "finalized";
}

/** The recipients of a transaction differ, so that the address is enough. */
function pays({ kind, legs }: PaymentRecord, { address }: RecipientRecord): boolean {
  return (kind === "payout" || kind === "swap") && legs.some((leg) => leg.address === address);
}
