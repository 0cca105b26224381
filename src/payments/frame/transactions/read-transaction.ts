/** A transaction as its owner sees it. */
import { formatAmount } from "../../../core/amount.ts";
import { PaymentError } from "../../../errors/errors.ts";
import { attentionMessages } from "../attention.ts";
import type { Caller } from "../accounts/caller.ts";
import type { Assets } from "../assets/assets.ts";
import { shownAmount } from "../assets/shown-amount.ts";
import { isoTime } from "../iso-time.ts";
import type { FrameStorage } from "../frame-storage.ts";
import { factsOf } from "../quotes/transaction-facts.ts";
import type { RecipientRecord, TransactionRecord, TransactionView } from "../tables/orders.ts";
import { modeOf, type RefundSum, type TransactionDetails, type TransactionMode } from "./transaction-mode.ts";
import type { TransactionBody } from "./transaction-schema.ts";

export interface TransactionParts {
  readonly storage: FrameStorage;
  readonly assets: Assets;
  readonly modes: readonly TransactionMode[];
}

/** A transaction with the details of its mode. */
export interface DetailedTransaction extends TransactionView {
  readonly details: TransactionDetails;
}

/** The caller's transaction. Throws `TRANSACTION_NOT_FOUND` for an unknown id and for another account's alike. */
export async function ownTransaction(
  storage: FrameStorage,
  caller: Caller,
  transactionId: string,
): Promise<TransactionView> {
  return ownOf(caller, transactionId, await storage.transaction(transactionId));
}

/** The caller's transaction as it is shown alone. Throws as `ownTransaction` does. */
export async function ownBody(
  deps: TransactionParts,
  caller: Caller,
  transactionId: string,
): Promise<TransactionBody> {
  const [[found = null], refunds] = await Promise.all([
    detailedTransactions(deps, [transactionId]),
    deps.storage.refundsOf([transactionId]),
  ]);
  return bodyOf({ ...ownOf(caller, transactionId, found), assets: deps.assets, refunds });
}

function ownOf<View extends TransactionView>(
  { accountId }: Caller,
  transactionId: string,
  view: View | null,
): View {
  if (view === null || view.transaction.accountId !== accountId) {
    throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
  }
  return view;
}

/** Transactions of one state, in the given order; those that are gone are left out. */
export async function detailedTransactions(
  { storage, modes }: Pick<TransactionParts, "storage" | "modes">,
  ids: readonly string[],
): Promise<readonly DetailedTransaction[]> {
  // All reads are asked for in one turn.
  const [views, told] = await Promise.all([
    storage.transactionViews(ids),
    Promise.all(modes.map(async (mode) => [mode, await mode.details(ids)] as const)),
  ]);
  const tellers = new Map(told);
  return views.flatMap((view) => {
    const details = tellers.get(modeOf(modes, view.transaction))?.(view) ?? null;
    return details === null ? [] : [{ ...view, details }];
  });
}

/** Transactions as they are shown in lists, in the order given: read together, however many they are; gone ones are left out. */
export async function transactionBodies(
  deps: TransactionParts,
  transactions: readonly TransactionRecord[],
): Promise<readonly TransactionBody[]> {
  const ids = transactions.map(({ id }) => id);
  const [views, refunds] = await Promise.all([detailedTransactions(deps, ids), deps.storage.refundsOf(ids)]);
  return views.map((view) => bodyOf({ ...view, assets: deps.assets, refunds }));
}

/** All that is shown of a transaction. */
interface Shown extends DetailedTransaction {
  readonly assets: Assets;
  /** The transaction itself and its refunds. */
  readonly refunds: readonly TransactionRecord[];
}

function bodyOf({ transaction, recipients, details, assets, refunds }: Shown): TransactionBody {
  const { landedAfterCancel, cancelledAt } = transaction;
  const { attention } = details;
  return {
    transactionId: transaction.id,
    status: transaction.status,
    signature: transaction.signature,
    blockTime: transaction.blockTime,
    fee: transactionFee(details.fee, transaction, assets),
    type: transaction.type,
    mode: transaction.mode,
    ...factsOf(transaction, assets),
    ...(transaction.senderAllowOffCurve ? { senderAllowOffCurve: true } : {}),
    recipients: recipients.map((share) => ({
      ...recipientShare(share, transaction, assets),
      ...(share.allowOffCurve ? { allowOffCurve: true as const } : {}),
      ...details.outcomeOf(share),
    })),
    reason: transaction.reason,
    signatures: details.signatures,
    refunds: details.refunds.map((sum) => refundBody(sum, assets)),
    refundOf: transaction.refundOf,
    ...refundedBody(transaction, refunds, assets),
    createdAt: isoTime(transaction.createdAt),
    cancelledAt: cancelledAt === null ? null : isoTime(cancelledAt),
    reference: transaction.reference,
    attention,
    attentionMessage: attention === null ? null : attentionMessages[attention],
    ...details.own,
    ...(landedAfterCancel ? { landedAfterCancel } : {}),
  };
}

/** The refund of one transaction. */
function refundBody(sum: RefundSum, assets: Assets): TransactionBody["refunds"][number] {
  const { to, signature, status } = sum;
  const shown = shownAmount(sum, assets);
  const withheld = shownAmount({ ...sum, amount: sum.cost }, assets);
  return { asset: shown.asset, amount: shown.amount, cost: withheld.amount, to, signature, status };
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

/** The refunds of a payment, as its owner sees them. `refunds` are those that were taken for it, oldest first. */
function refundedBody(
  { id, outputMint }: TransactionRecord,
  refunds: readonly TransactionRecord[],
  assets: Assets,
): { readonly refundedAmount: string; readonly refundedBy: readonly string[] } {
  const own = refunds.filter(({ refundOf }) => refundOf === id);
  const landed = own.filter(({ status, landedAfterCancel }) => status === "completed" || landedAfterCancel);
  const sum = landed.reduce((total, { outputAmount }) => total + outputAmount, 0n);
  return {
    refundedAmount: formatAmount(sum, assets.named(outputMint).decimals),
    refundedBy: own.map((refund) => refund.id),
  };
}
