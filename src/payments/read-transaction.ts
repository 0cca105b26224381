/** A transaction as its owner sees it. */
import type { RecipientRecord, TransactionRecord } from "../../storage/records.ts";
import type { PaymentStorage } from "../../storage/storage.ts";
import { formatAmount } from "../amount.ts";
import { PaymentError } from "../errors.ts";
import type { Assets } from "./assets.ts";
import type { Caller } from "./caller.ts";
import { isoTime } from "./iso-time.ts";

/** One recipient with what became of its share. */
export interface RecipientBody {
  readonly address: string;
  readonly amount: string;
  readonly status: "paid" | "unpaid";
  readonly signature: string | null;
}

/** The answer to GET /v1/transactions/{id}: SPEC's five fields first, then CONTRACT's. */
export interface TransactionBody {
  readonly transactionId: string;
  readonly status: string;
  readonly signature: string | null;
  /** Unix seconds. */
  readonly blockTime: number | null;
  /** Decimal string in SOL. */
  readonly fee: string | null;
  readonly type: string;
  readonly mode: string;
  readonly recipients: readonly RecipientBody[];
  readonly reason: string | null;
  readonly signatures: readonly string[];
  readonly refunds: readonly never[];
  readonly createdAt: string;
  readonly cancelledAt: string | null;
  /** Only there when a cancelled transaction was broadcast by its caller all the same. */
  readonly landedAfterCancel?: true;
}

/** Throws `TRANSACTION_NOT_FOUND` for an unknown id and for another account's alike (CONTRACT section 2). */
export async function readTransaction(
  { storage, assets }: { readonly storage: PaymentStorage; readonly assets: Assets },
  caller: Caller,
  transactionId: string,
): Promise<TransactionBody> {
  const view = await storage.transaction(transactionId);
  if (view === null || view.transaction.accountId !== caller.accountId) {
    throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
  }
  const { transaction, recipients } = view;
  const { signature, landedAfterCancel, cancelledAt } = transaction;
  return {
    transactionId,
    status: transaction.status,
    signature,
    blockTime: transaction.blockTime,
    fee: transactionFee(transaction, assets),
    type: transaction.type,
    mode: transaction.mode,
    recipients: recipients.map((share) => ({
      ...recipientShare(share, transaction, assets),
      ...recipientOutcome(share, transaction),
    })),
    reason: transaction.reason,
    signatures: signature === null ? [] : [signature],
    refunds: [],
    createdAt: isoTime(transaction.createdAt),
    cancelledAt: cancelledAt === null ? null : isoTime(cancelledAt),
    ...(landedAfterCancel ? { landedAfterCancel } : {}),
  };
}

/** The fee in whole SOL, null while unknown. */
export function transactionFee({ fee }: Pick<TransactionRecord, "fee">, assets: Assets): string | null {
  return fee === null ? null : formatAmount(fee, assets.named("SOL").decimals);
}

/** A recipient's address and amount on the wire. */
export function recipientShare(
  { address, amount }: RecipientRecord,
  { mint }: Pick<TransactionRecord, "mint">,
  assets: Assets,
): { address: string; amount: string } {
  return { address, amount: formatAmount(amount, assets.named(mint).decimals) };
}

/** In wallet mode one transaction pays everybody or nobody, so its end is every recipient's. */
function recipientOutcome(
  share: RecipientRecord,
  { status, mode, signature }: TransactionRecord,
): { status: "paid" | "unpaid"; signature: string | null } {
  if (mode !== "wallet") return { status: share.status, signature: share.signature };
  return status === "completed" ? { status: "paid", signature } : { status: "unpaid", signature: null };
}
