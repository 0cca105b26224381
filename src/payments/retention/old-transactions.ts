/** Removes wallet transactions that ended long ago, with all their rows. */
import type { Address } from "../../address.ts";
import { isFinalStatus, type TransactionRecord } from "../tables/orders.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import {
  archivedRows,
  type RetentionState,
  type Rows,
  carryOut,
  type EndedRun,
  endedRuns,
  type Removal,
  type RemovingParts,
} from "./removal.ts";
import { noticeRemoval } from "./old-notices.ts";

interface TransactionRemovalParts extends RemovingParts {
  /** Wallets of the service: the chain is asked what they have signed, and each signature has to be known here. */
  readonly ownAddresses: readonly Address[];
}

export function oldTransactions(parts: TransactionRemovalParts): Rows<TransactionRecord> {
  return {
    page: (after, limit) => parts.storage.transactionsAfter(after, limit),
    judge: (transactions, until) => judge(parts, transactions, until),
  };
}

/** A transaction that may go, its run, and the removals of its notices. */
interface Leaving {
  readonly transaction: TransactionRecord;
  readonly run: EndedRun;
  readonly notices: readonly Removal[];
}

/** All of a page together: the commits of many at once, and not the round trips of one after another. */
async function judge(
  parts: TransactionRemovalParts,
  transactions: readonly TransactionRecord[],
  until: number,
): Promise<readonly RetentionState[]> {
  const looked = await Promise.all(transactions.map((each) => lookAt(parts, each, until)));
  const leaving = looked.filter((each) => typeof each === "object");
  // Its notices are removed first, in separate commits: a notice may have gone to many webhooks.
  const gone = await carryOut(
    parts,
    leaving.flatMap(({ notices }) => notices),
  );
  let next = 0;
  const bare = leaving.filter(({ notices }) =>
    notices.map(() => gone[next++] === true).every((isGone) => isGone),
  );
  const removals = await Promise.all(bare.map((each) => removalOf(parts, each)));
  const removed = await carryOut(parts, removals);
  const left = new Set(bare.filter((_, index) => removed[index] === true));
  return looked.map((each) => (typeof each === "string" ? each : left.has(each) ? "gone" : "later"));
}

async function lookAt(
  parts: TransactionRemovalParts,
  transaction: TransactionRecord,
  until: number,
): Promise<Leaving | "stays" | "later"> {
  const { storage, ownAddresses } = parts;
  if (isProof(transaction, ownAddresses) || isGivenUp(transaction)) return "stays";
  // A payment shows what was refunded of it for as long as it is shown.
  const { refundOf } = transaction;
  if (refundOf !== null && (await storage.transaction(refundOf)) !== null) return "stays";
  const [run] = (await endedRuns(storage, [transaction.id], until)) ?? [];
  if (run === undefined || !canGo(transaction)) return "later";
  const told = await storage.notices(transaction.id);
  const notices = await Promise.all(told.map((each) => noticeRemoval(storage, each, until)));
  const whole = notices.filter((removal) => removal !== null);
  return whole.length < notices.length ? "later" : { transaction, run, notices: whole };
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
  return attention === null && isFinalStatus(status);
}

/**
 * The empty bytes that replace signed bytes: only the signature and the hash of the message stay, which are unique.
 * With both the database refuses the same bytes for good; only a node says that the bytes have expired, and the payment
 * of one order must not count for two.
 */
const NOTHING = new Uint8Array();

/** Refused where an operator has settled it otherwise meanwhile. */
async function removalOf({ storage }: RemovingParts, { transaction, run }: Leaving): Promise<Removal> {
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
    ...run.rows,
  ];
  return { removes: [run.instance], writes, rows };
}
