/** Events of an order beside its status: which of them a step of its deposit address makes, and the notice of each. */
import type { DepositAddressContext } from "../../../machines/deposit-address-context.ts";
import type { DepositRecord, EntryRecord } from "../tables/deposits.ts";
import type { NoticeRecord, UntoldEventRecord } from "../tables/notices.ts";
import type { TransactionView } from "../tables/orders.ts";
import { newNotice, untoldEvent } from "../notice-writes.ts";
import type { PaymentWrite } from "../payment-storage.ts";

/** The events of a step of a deposit address: `lines` are what the step adds to the ledger, and `isHeld` begins a hold. */
export function eventsOfStep(
  { order, mint }: DepositAddressContext,
  { version, isHeld, lines }: { version: number; isHeld: boolean; lines: readonly EntryRecord[] },
): readonly PaymentWrite[] {
  const by = String(version);
  const events: PaymentWrite[] = [];
  if (lines.some((line) => line.kind === "deposit" && line.mint === mint)) {
    events.push(untoldEvent(order, { event: "transaction.deposit_received", by }));
  }
  if (isHeld) events.push(untoldEvent(order, { event: "transaction.held", by }));
  const refund = lines.find(({ kind }) => kind === "refund");
  if (refund === undefined) return events;
  const subject = paymentOf(refund);
  return [...events, untoldEvent(order, { event: "transaction.refunded", by, subject })];
}

/** The payment that a line of the ledger is of; the id of the line begins with it. */
const paymentOf = ({ id }: EntryRecord): string => id.slice(0, id.lastIndexOf(":"));

/** The rows of an order. */
export interface OrderRows extends TransactionView {
  /** The deposit address with its ledger, oldest line first; null in wallet mode. */
  readonly deposit: DepositRecord | null;
  readonly entries: readonly EntryRecord[];
  /** How often an operator has let the money go on: each time ends a hold. */
  readonly releases: number;
  /** Base units of the deposited asset that count as a deposit. */
  readonly smallest: bigint;
  /** What was told of it before. */
  readonly told: readonly NoticeRecord[];
}

/** The notice of an event; null where nothing is to be told, such as of a small deposit, or of a hold that is over. */
export function orderNotice(
  { event, subject }: UntoldEventRecord,
  order: OrderRows,
  now: number,
): NoticeRecord | null {
  const { transaction, deposit, releases } = order;
  switch (event) {
    case "transaction.deposit_received":
      return deposit === null ? null : depositNotice(order, deposit, now);
    case "transaction.held":
      if ((deposit?.heldReason ?? null) === null) return null;
      // Several may hold it at once, which is one hold until it is released.
      return newNotice(transaction, { event, subject: String(releases + 1), createdAt: now });
    case "transaction.refunded":
      return newNotice(transaction, { event, subject, createdAt: now });
    case "transaction.cancelled":
      return newNotice(transaction, { event, createdAt: now });
    default:
      throw new TypeError(`no such event: ${String(event satisfies never)}`);
  }
}

/** The most notices `transaction.deposit_received` of an order. The last is kept for the deposit that completes it. */
const MAX_DEPOSITS_TOLD = 10;

/** The finalized sum, where it has risen by a deposit since it was last told, or completes what was asked for. */
function depositNotice(
  { transaction, entries, smallest, told }: OrderRows,
  { mint, amount }: DepositRecord,
  now: number,
): NoticeRecord | null {
  const came = entries.filter((entry) => entry.kind === "deposit" && entry.mint === mint);
  const received = came.reduce((sum, entry) => sum + entry.amount, 0n);
  const before = told.flatMap((notice) => notice.received ?? []);
  const last = before.reduce((most, sum) => (sum > most ? sum : most), 0n);
  const completes = last < amount && received >= amount;
  const isRoom = before.length < (last < amount ? MAX_DEPOSITS_TOLD - 1 : MAX_DEPOSITS_TOLD);
  if (!completes && !(isRoom && received - last >= smallest)) return null;
  const remaining = amount > received ? amount - received : 0n;
  const event = "transaction.deposit_received";
  return newNotice(transaction, { event, subject: String(received), received, remaining, createdAt: now });
}
