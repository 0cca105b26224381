/** A transaction as its owner sees it. */
import type { TransactionBody } from "./transaction-schema.ts";
import type { RecipientRecord, TransactionRecord, TransactionView } from "../frame/tables/orders.ts";
import { groupedBy } from "../frame/tables/read.ts";
import type { PaymentStorage } from "../frame/payment-storage.ts";
import { formatAmount } from "../../core/amount.ts";
import { PaymentError } from "../../errors/errors.ts";
import { attentionOf } from "../frame/attention.ts";
import type { Assets } from "../frame/assets/assets.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import { isoTime } from "../frame/iso-time.ts";
import { factsOf } from "../frame/quotes/transaction-facts.ts";
import { depositBody } from "../private/deposit-body.ts";
import { booksOf, type OrderBooks } from "../private/order-books.ts";
import { refundedBody } from "./refunds.ts";
import { receivedMoney, refundBodies } from "./received-money.ts";
import { payingSignatures, recipientOutcome, type AttemptedView } from "./recipient-outcome.ts";

export interface TransactionParts {
  readonly storage: PaymentStorage;
  readonly assets: Assets;
}

/** The caller's transaction. Throws `TRANSACTION_NOT_FOUND` for an unknown id and for another account's alike. */
export async function ownTransaction(
  storage: PaymentStorage,
  { accountId }: Caller,
  transactionId: string,
): Promise<TransactionView> {
  const view = await storage.transaction(transactionId);
  if (view === null || view.transaction.accountId !== accountId) {
    throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
  }
  return view;
}

/** Transactions as they are shown in lists, in the order given: read together, however many they are; gone ones are left out. */
export async function transactionBodies(
  { storage, assets }: TransactionParts,
  transactions: readonly TransactionRecord[],
): Promise<readonly TransactionBody[]> {
  const ids = transactions.map(({ id }) => id);
  const [views, refunds] = await Promise.all([storage.transactionViews(ids), storage.refundsOf(ids)]);
  const attempted = await attemptedViews(storage, views);
  return attempted.map((view) => bodyOf({ ...view, assets, refunds }));
}

/** A transaction as it is shown alone. */
export async function transactionBody(
  { storage, assets }: TransactionParts,
  view: TransactionView,
): Promise<TransactionBody> {
  const [refunds, [attempted = { ...view, attempts: [] }]] = await Promise.all([
    storage.refundsOf([view.transaction.id]),
    attemptedViews(storage, [view]),
  ]);
  return bodyOf({ ...attempted, assets, refunds });
}

/** Transactions with the attempts of their transfers. */
export async function attemptedViews(
  storage: Pick<PaymentStorage, "attemptsOfAny">,
  views: readonly TransactionView[],
): Promise<readonly AttemptedView[]> {
  const transfers = views.flatMap(({ order }) => order?.transfers ?? []);
  const attempts = transfers.length === 0 ? [] : await storage.attemptsOfAny(transfers.map(({ id }) => id));
  const byTransfer = groupedBy(attempts, "transfer");
  return views.map((view) => {
    const own = (view.order?.transfers ?? []).flatMap(({ id }) => byTransfer.get(id) ?? []);
    return { ...view, attempts: own };
  });
}

/** All that is shown of a transaction. */
interface Shown extends AttemptedView {
  readonly assets: Assets;
  /** Of it and of others. */
  readonly refunds: readonly TransactionRecord[];
}

function bodyOf(shown: Shown): TransactionBody {
  const { transaction, order, assets, refunds } = shown;
  const { landedAfterCancel, cancelledAt } = transaction;
  const books = orderBooks(shown, assets);
  const recipients = shown.recipients.map((share) => ({
    ...recipientShare(share, transaction, assets),
    ...(share.allowOffCurve ? { allowOffCurve: true as const } : {}),
    ...recipientOutcome(share, shown),
  }));
  return {
    transactionId: transaction.id,
    status: transaction.status,
    signature: transaction.signature,
    blockTime: transaction.blockTime,
    fee: transactionFee(books === null ? transaction.fee : books.fee, transaction, assets),
    type: transaction.type,
    mode: transaction.mode,
    ...factsOf(transaction, assets),
    ...(transaction.senderAllowOffCurve ? { senderAllowOffCurve: true } : {}),
    recipients,
    reason: transaction.reason,
    signatures:
      order === null ? signaturesOf(transaction) : payingSignatures(shown.recipients, order, shown.attempts),
    refunds: books === null ? [] : refundBodies(books, assets),
    refundOf: transaction.refundOf,
    ...refundedBody(transaction, refunds, assets),
    createdAt: isoTime(transaction.createdAt),
    cancelledAt: cancelledAt === null ? null : isoTime(cancelledAt),
    reference: transaction.reference,
    ...attentionOf(shown),
    ...(order === null || books === null
      ? {}
      : { ...depositBody(order.order, assets), ...receivedMoney(transaction, order, { books, assets }) }),
    ...(landedAfterCancel ? { landedAfterCancel } : {}),
  };
}

/** The books of a transaction's order; null in wallet mode. */
export function orderBooks(view: AttemptedView, { tokens }: Pick<Assets, "tokens">): OrderBooks | null {
  const { order, transaction, recipients, attempts } = view;
  if (order === null) return null;
  return booksOf({ ...order, transaction, recipients, attempts, assets: tokens.map(({ mint }) => mint) });
}

/**
 * The signature of the given bytes, and the signature under which the sender had the same message land, if different.
 */
function signaturesOf({ signature, landedSignature }: TransactionRecord): readonly string[] {
  return [signature, landedSignature].filter((each) => each !== null);
}

/** The fee in whole units of its asset, null while unknown. */
export function transactionFee(
  fee: bigint | null,
  { feeMint }: Pick<TransactionRecord, "feeMint">,
  assets: Assets,
): string | null {
  return fee === null ? null : formatAmount(fee, assets.named(feeMint).decimals);
}

/** A recipient's address and amount on the wire. */
export function recipientShare(
  { address, amount }: RecipientRecord,
  { outputMint }: Pick<TransactionRecord, "outputMint">,
  assets: Assets,
): { address: string; amount: string } {
  return { address, amount: formatAmount(amount, assets.named(outputMint).decimals) };
}
