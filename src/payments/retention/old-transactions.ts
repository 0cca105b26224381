/** Removes wallet transactions that ended long ago, with all their rows. */
import type { Address } from "../../address.ts";
import type { NoticeRecord } from "../tables/notices.ts";
import type { TransactionRecord } from "../tables/orders.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import { archivedRows } from "./archived-rows.ts";
import { noticeRemoval } from "./old-notices.ts";
import type { RetentionState, Rows } from "./oldest-first.ts";
import { carryOut, endedRuns, type Removal, type RemovingParts } from "./removal.ts";

/** Dependencies of removing transactions. */
interface TransactionRemovalParts extends RemovingParts {
  /** Wallets of the service: the chain is asked what they have signed, and each signature has to be known here. */
  readonly ownAddresses: readonly Address[];
}

export function oldTransactions(parts: TransactionRemovalParts): Rows<TransactionRecord> {
  return {
    page: (after, limit) => parts.storage.transactionsAfter(after, limit),
    async judge(transactions, until) {
      const judged: RetentionState[] = [];
      for (const transaction of transactions) judged.push(await judge(parts, transaction, until));
      return judged;
    },
  };
}

async function judge(
  parts: TransactionRemovalParts,
  transaction: TransactionRecord,
  until: number,
): Promise<RetentionState> {
  if (isProof(transaction, parts.ownAddresses) || isGivenUp(transaction)) return "stays";
  const [ended] = (await endedRuns(parts.storage, [transaction.id], until)) ?? [];
  if (ended === undefined || !canGo(transaction)) return "later";
  // Its notices are removed first, in separate commits: a notice may have gone to many webhooks.
  if (!(await areNoticesGone(parts, await parts.storage.notices(transaction.id), until))) return "later";
  const removal = await removalOf(parts, transaction);
  const whole = { ...removal, removes: [ended.instance], rows: [...removal.rows, ...ended.rows] };
  const [isGone = false] = await carryOut(parts, [whole]);
  return isGone ? "gone" : "later";
}

/**
 * Transactions that the service has signed, or may have signed: `reconcile` looks up their signatures here, and a
 * deposit address refunds money however late it arrives.
 */
function isProof({ mode, type, sender }: TransactionRecord, ownAddresses: readonly Address[]): boolean {
  return mode === "private" || type === "swap" || ownAddresses.includes(sender);
}

/**
 * Whether the transaction was given up as expired, and may be settled by its signature later, which is rare. If each
 * such transaction were judged again, every pass would go through all younger rows.
 */
function isGivenUp({ status, reason, landedAfterCancel }: TransactionRecord): boolean {
  return status === "failed" && reason === "expired" && !landedAfterCancel;
}

/** Whether the transaction may be removed; a transaction that waits for an operator is open. */
function canGo({ status, attention }: TransactionRecord): boolean {
  return attention === null && (status === "completed" || status === "failed" || status === "cancelled");
}

async function areNoticesGone(
  parts: RemovingParts,
  notices: readonly NoticeRecord[],
  until: number,
): Promise<boolean> {
  const removals = await Promise.all(notices.map((each) => noticeRemoval(parts.storage, each, until)));
  const whole = removals.filter((removal) => removal !== null);
  if (whole.length < removals.length) return false;
  return (await carryOut(parts, whole)).every((isGone) => isGone);
}

/**
 * The empty bytes that replace signed bytes: only the signature and the hash of the message stay, which are unique.
 * With both the database refuses the same bytes for good; only a node says that the bytes have expired, and the payment
 * of one order must not count for two.
 */
const NOTHING = new Uint8Array();

/** All but its instance. Refused where an operator has settled it otherwise meanwhile. */
async function removalOf({ storage }: RemovingParts, transaction: TransactionRecord): Promise<Removal> {
  const { id, quoteId, signature, status, landedAfterCancel } = transaction;
  const [view, quote, attempts] = await Promise.all([
    storage.transaction(id),
    storage.quote(quoteId),
    storage.attempts([signature ?? ""]),
  ]);
  const recipients = view?.recipients ?? [];
  const quotes = quote?.usedBy === id ? [quote] : [];
  const writes: readonly PaymentWrite[] = [
    { table: "transactions", remove: id, expected: { status, landedAfterCancel, attention: null } },
    ...recipients.map((each) => ({ table: "recipients" as const, remove: each.id })),
    ...attempts.map((each) => ({ table: "attempts" as const, id: each.id, set: { bytes: NOTHING } })),
    ...quotes.map((each) => ({ table: "quotes" as const, remove: each.id })),
  ];
  const rows = [
    ...archivedRows("transactions", [transaction]),
    ...archivedRows("recipients", recipients),
    ...archivedRows("attempts", attempts),
    ...archivedRows("quotes", quotes),
  ];
  return { removes: [], writes, rows };
}
