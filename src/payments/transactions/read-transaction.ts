/** A transaction as its owner sees it. */
import type { TransactionBody } from "./transaction-schema.ts";
import type { DepositRecord, EntryRecord } from "../tables/deposits.ts";
import type { RecipientRecord, TransactionRecord, TransactionView } from "../tables/orders.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import { formatAmount } from "../../amount.ts";
import { PaymentError } from "../../errors.ts";
import { attentionOf } from "../attention.ts";
import type { Assets } from "../assets/assets.ts";
import type { Caller } from "../accounts/caller.ts";
import { isoTime } from "../iso-time.ts";
import { factsOf } from "../quotes/transaction-facts.ts";
import { readPlan } from "../outgoing/plans/stored-plan.ts";
import { depositBody } from "../private/deposit-body.ts";
import type { ReservationRecord } from "../tables/limits.ts";
import { refundParts, restOf, unreturned, type OrderBooks } from "../private/unreturned.ts";
import { refundedBody } from "./refunds.ts";
import { receivedMoney, recipientOutcome, shownAmount } from "./received-money.ts";

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
  const addresses = transactions.flatMap(({ depositAddress }) => depositAddress ?? []);
  const ids = transactions.map(({ id }) => id);
  const [views, refunds, deposits, entries, reservations] = await Promise.all([
    storage.transactionViews(ids),
    storage.refundsOf(ids),
    storage.deposits(addresses),
    addresses.length === 0 ? [] : storage.entriesOf(addresses),
    addresses.length === 0 ? [] : storage.reservationsById(ids),
  ]);
  return views.map((view) => {
    const { depositAddress } = view.transaction;
    return bodyOf({
      ...view,
      assets,
      refunds,
      deposit: deposits.find(({ id }) => id === depositAddress),
      entries: entries.filter(({ address }) => address === depositAddress),
      reservation: reservations.find(({ id }) => id === view.transaction.id),
    });
  });
}

/** A transaction as it is shown alone. */
export async function transactionBody(
  { storage, assets }: TransactionParts,
  view: TransactionView,
): Promise<TransactionBody> {
  const [[deposit], refunds] = await Promise.all([
    storage.deposits([view.transaction.depositAddress ?? ""]),
    storage.refundsOf([view.transaction.id]),
  ]);
  const [entries, [reservation]] =
    deposit === undefined
      ? [[], []]
      : await Promise.all([storage.entries(deposit.id), storage.reservationsById([view.transaction.id])]);
  return bodyOf({ ...view, assets, refunds, deposit, entries, reservation });
}

/** All that is shown of a transaction. */
interface Shown extends TransactionView {
  readonly assets: Assets;
  /** Of it and of others. */
  readonly refunds: readonly TransactionRecord[];
  readonly deposit: DepositRecord | undefined;
  readonly entries: readonly EntryRecord[];
  readonly reservation: ReservationRecord | undefined;
}

function bodyOf(shown: Shown): TransactionBody {
  const { transaction, recipients, payments, assets, refunds, deposit, entries } = shown;
  const { signature, landedAfterCancel, cancelledAt } = transaction;
  const books = deposit === undefined ? null : booksOf({ ...shown, deposit });
  return {
    transactionId: transaction.id,
    status: transaction.status,
    signature,
    blockTime: transaction.blockTime,
    fee: transactionFee(transaction.fee, transaction, assets),
    type: transaction.type,
    mode: transaction.mode,
    ...factsOf(transaction, assets),
    ...(transaction.senderAllowOffCurve ? { senderAllowOffCurve: true } : {}),
    recipients: recipients.map((share) => ({
      ...recipientShare(share, transaction, assets),
      ...(share.allowOffCurve ? { allowOffCurve: true } : {}),
      ...recipientOutcome(share, transaction, payments),
    })),
    reason: transaction.reason,
    signatures: transaction.mode === "private" ? paidOut(payments) : signaturesOf(transaction),
    refunds: books === null ? [] : books.refunds.map((row) => refundBody(row, books.deposit, assets)),
    refundOf: transaction.refundOf,
    ...refundedBody(transaction, refunds, assets),
    createdAt: isoTime(transaction.createdAt),
    cancelledAt: cancelledAt === null ? null : isoTime(cancelledAt),
    reference: transaction.reference,
    ...attentionOf({ transaction, deposit }),
    ...(books === null
      ? {}
      : {
          ...depositBody(books.deposit, assets),
          ...receivedMoney(books, entries, assets),
          unreturned: unreturned(books, assets),
        }),
    ...(landedAfterCancel ? { landedAfterCancel } : {}),
  };
}

function booksOf({
  recipients,
  payments,
  ...shown
}: Shown & { readonly deposit: DepositRecord }): OrderBooks {
  const isPaid = (share: RecipientRecord): boolean =>
    recipientOutcome(share, shown.transaction, payments).status === "paid";
  const books = { ...shown, paid: recipients.filter(isPaid), refunds: refundsOf(payments) };
  // Nodes may have said "failed" of money that reached its recipient: then no refund of it is due.
  const isThere = (mint: string): boolean => restOf(books, mint) >= 0n;
  return { ...books, refunds: books.refunds.filter((row) => row.status !== "failed" || isThere(row.mint)) };
}

/**
 * The signature of the given bytes, and the signature under which the sender had the same message land, if different.
 */
function signaturesOf({ signature, landedSignature }: TransactionRecord): readonly string[] {
  return [signature, landedSignature].filter((each) => each !== null);
}

/** Signatures of the service's own payments to recipients. */
function paidOut(payments: readonly PaymentRecord[]): readonly string[] {
  return payments
    .filter(({ kind, status }) => (kind === "payout" || kind === "swap") && status !== "failed")
    .map(({ signature }) => signature)
    .filter((signature) => signature !== null);
}

/** A failed refund is shown until a new refund replaces it. */
function refundsOf(payments: readonly PaymentRecord[]): readonly PaymentRecord[] {
  const refunds = payments.filter(({ kind }) => kind === "refund");
  const isReplaced = ({ mint, createdAt }: PaymentRecord): boolean =>
    refunds.some((other) => other.mint === mint && other.createdAt > createdAt);
  return refunds.filter((row) => row.status !== "failed" || !isReplaced(row));
}

function refundBody(
  row: PaymentRecord,
  { heldReason }: DepositRecord,
  assets: Assets,
): TransactionBody["refunds"][number] {
  const { mint, legs, signature, status, plan } = row;
  const own = assets.ofMint(mint);
  const { amount, cost } = refundParts(row);
  const decimals = plannedDecimals(plan);
  const shown = shownAmount({ mint, amount, decimals }, assets);
  const isTried = heldReason === null && (own !== null || status !== "failed");
  const waiting = isTried ? "pending" : "held";
  return {
    asset: shown.asset,
    amount: shown.amount,
    cost: shownAmount({ mint, amount: cost, decimals }, assets).amount,
    to: legs[0]?.address ?? "",
    signature,
    status: status === "finalized" ? "paid" : waiting,
  };
}

/** The decimals of what a plan transfers: of a mint that only an operator sends back, nothing else tells them. */
export function plannedDecimals(plan: string): number | null {
  const transfer = readPlan(plan).moves.find(({ does }) => does === "transfer");
  return transfer?.does === "transfer" ? transfer.decimals : null;
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
