/** Removes wallet transactions that ended long ago, with all their rows. */
import type { Address } from "../../core/address.ts";
import type { TransactionRecord } from "../frame/tables/orders.ts";
import type { FrameWrite } from "../frame/frame-storage.ts";
import {
  archivedRows,
  type EndedRun,
  endedRuns,
  type Removal,
  type RemovingParts,
} from "../frame/retention/removal.ts";
import { canGo, forgotten, type LeavingParts } from "../frame/retention/leaving.ts";
import type { Kept, Leaving, OldRowRule } from "../frame/retention/old-rows.ts";

interface TransactionRemovalParts extends LeavingParts {
  /** Wallets of the service: the chain is asked what they have signed, and each signature has to be known here. */
  readonly ownAddresses: readonly Address[];
}

export function oldTransactions(
  parts: TransactionRemovalParts,
  keepMs: number | null,
): OldRowRule<TransactionRecord> {
  return {
    name: "transactions",
    keepMs,
    page: (after, limit) => parts.storage.transactionsAfter(after?.id ?? "", limit),
    look: (transaction, until) => lookAt(parts, transaction, until),
  };
}

async function lookAt(
  parts: TransactionRemovalParts,
  transaction: TransactionRecord,
  until: number,
): Promise<Leaving | Kept> {
  const { storage, ownAddresses, noticeRemovals } = parts;
  if (isProof(transaction, ownAddresses) || isGivenUp(transaction)) return "stays";
  // A payment shows what was refunded of it for as long as it is shown.
  const { refundOf } = transaction;
  if (refundOf !== null && (await storage.transaction(refundOf)) !== null) return "stays";
  const [run] = (await endedRuns(storage, [transaction.id], until)) ?? [];
  if (run === undefined || !canGo(transaction)) return "later";
  const notices = await noticeRemovals(transaction.id, until);
  return notices === null ? "later" : { before: notices, removal: () => removalOf(parts, transaction, run) };
}

/**
 * Transactions that the service has signed, or may have signed: `reconcile` looks up their signatures here. Orders of private
 * mode go by a rule of their own.
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

/** Refused where an operator has settled it otherwise meanwhile. */
async function removalOf(
  { storage }: RemovingParts,
  transaction: TransactionRecord,
  run: EndedRun,
): Promise<Removal> {
  const { id, quoteId, signature, status, landedAfterCancel } = transaction;
  const [view, quote, attempts] = await Promise.all([
    storage.transaction(id),
    storage.quote(quoteId),
    storage.attempts([signature ?? ""]),
  ]);
  const recipients = view?.recipients ?? [];
  const quotes = quote?.usedBy === id ? [quote] : [];
  const writes: readonly FrameWrite[] = [
    { table: "transactions", remove: id, expected: { status, landedAfterCancel, attention: null } },
    ...recipients.map((each) => ({ table: "recipients" as const, remove: each.id })),
    ...attempts.map(forgotten),
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
