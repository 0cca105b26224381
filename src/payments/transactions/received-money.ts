/** The money received at a deposit address, the missing rest, and what became of each recipient. */
import type { TransactionBody } from "./transaction-schema.ts";
import type { DepositRecord, EntryRecord } from "../tables/deposits.ts";
import { isFinalStatus, type TransactionRecord, type RecipientRecord } from "../tables/orders.ts";
import { SOL_MINT } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";
import { nameOfMint } from "../outgoing/plans/other-mints.ts";
import { paymentUri } from "../private/deposit-body.ts";
import type { PaymentRecord } from "../tables/payments.ts";

/** With the signature of the transaction that pays the recipient, null while there is none. */
type RecipientOutcome = Pick<TransactionBody["recipients"][number], "status" | "signature">;

interface AwaitedDeposit {
  readonly transaction: TransactionRecord;
  readonly deposit: DepositRecord;
}

/** `entries` are the lines of the address's ledger, oldest first. */
export function receivedMoney(
  awaited: AwaitedDeposit,
  entries: readonly EntryRecord[],
  assets: Assets,
): Required<Pick<TransactionBody, "received" | "remainingAmount" | "paymentUri">> {
  const { transaction, deposit } = awaited;
  const asset = assets.named(deposit.mint);
  const deposits = entries.filter(({ kind }) => kind === "deposit");
  const counted = deposits
    .filter((entry) => counts(awaited, entry))
    .reduce((sum, { amount }) => sum + amount, 0n);
  const remaining = deposit.amount > counted ? deposit.amount - counted : 0n;
  const amount = formatAmount(remaining, asset.decimals);
  // An address stops waiting before its order hears of it, and what comes then goes back; of a held one nothing goes on.
  const isOpen = deposit.waitEndedAt === null && deposit.heldReason === null;
  const isWaiting = isOpen && transaction.status === "pending" && remaining > 0n;
  return {
    received: deposits.map((entry) => ({
      ...shownAmount(entry, assets),
      payer: entry.payer,
      signature: entry.signature,
      counted: counts(awaited, entry),
    })),
    remainingAmount: amount,
    paymentUri: isWaiting
      ? paymentUri({
          recipient: deposit.id,
          amount,
          mint: ledgerMint(asset),
          referenceKey: deposit.referenceKey,
          label: transaction.reference ?? transaction.id,
        })
      : null,
  };
}

/**
 * Money for a cancelled order, or after its address had stopped waiting, goes back to the sender and does not count.
 */
function counts({ transaction, deposit }: AwaitedDeposit, entry: EntryRecord): boolean {
  const { mint, waitEndedAt } = deposit;
  const isInTime = waitEndedAt === null || entry.at <= waitEndedAt;
  return transaction.status !== "cancelled" && entry.mint === mint && isInTime;
}

type ShownAmount = Pick<
  NonNullable<TransactionBody["received"]>[number],
  "asset" | "mint" | "amount" | "decimals"
>;

/** An amount of a mint that the ledger of an address names; `decimals` are those of a mint that is none of the assets. */
export function shownAmount(
  { mint: name, amount, decimals: others }: Pick<EntryRecord, "mint" | "amount" | "decimals">,
  assets: Assets,
): ShownAmount {
  const isWrapped = name === nameOfMint(SOL_MINT);
  const mint = isWrapped ? SOL_MINT : name;
  const token = assets.ofMint(mint);
  const decimals = token?.decimals ?? others;
  const asset = isWrapped ? "wSOL" : (token?.symbol ?? mint);
  return { asset, mint, amount: formatAmount(amount, decimals ?? 0), decimals };
}

export function recipientOutcome(
  share: RecipientRecord,
  transaction: TransactionRecord,
  payments: readonly PaymentRecord[],
): RecipientOutcome {
  return transaction.mode === "wallet" ? ofBytes(transaction) : ofPayments(share, transaction, payments);
}

const OF_BYTES: Readonly<Partial<Record<TransactionRecord["status"], RecipientOutcome["status"]>>> = {
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
  if (isFinalStatus(status)) return { status: "unpaid", signature: share.signature };
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
