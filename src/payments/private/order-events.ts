/** What an order tells beside its status: which events a step of its deposit address makes, and what is told of them. */
import type { DepositRecord, EntryRecord } from "../tables/deposits.ts";
import type { NoticeRecord, UntoldEventRecord } from "../tables/notices.ts";
import type { TransactionView } from "../tables/orders.ts";
import { untoldEvent } from "../notice-writes.ts";
import type { PaymentWrite } from "../payment-storage.ts";

/** A step of a deposit address. */
interface AddressStep {
  readonly order: string;
  readonly version: number;
  /** The mint of what is asked for. */
  readonly mint: string;
  /** Whether the step begins to hold the money. */
  readonly isHeld: boolean;
  /** Lines that the step adds to the ledger of the address. */
  readonly lines: readonly EntryRecord[];
}

/** The events of a step, which are told behind its commit. */
export function eventsOfStep({ order, version, mint, isHeld, lines }: AddressStep): readonly PaymentWrite[] {
  const hasCome = lines.some((line) => line.kind === "deposit" && line.mint === mint);
  const refund = lines.find(({ kind }) => kind === "refund");
  const by = String(version);
  return [
    ...(hasCome ? [untoldEvent(order, { event: "transaction.deposit_received", by })] : []),
    ...(isHeld ? [untoldEvent(order, { event: "transaction.held", by })] : []),
    ...(refund === undefined
      ? []
      : [untoldEvent(order, { event: "transaction.refunded", by, subject: paymentOf(refund) })]),
  ];
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

/** What there is to tell of an event. */
interface ToldEvent extends Pick<NoticeRecord, "received" | "remaining"> {
  /** What tells it from other events of its name; undefined for an event that happens once. */
  readonly subject?: string;
  /** Milliseconds since the Unix epoch; null where no row tells. */
  readonly at: number | null;
}

const NO_SUMS = { received: null, remaining: null };

/** Null where nothing is to be told, such as of a deposit that is too small, or of a hold that is over. */
export function toldOf({ event, subject }: UntoldEventRecord, order: OrderRows): ToldEvent | null {
  const { transaction, deposit, entries, releases } = order;
  switch (event) {
    case "transaction.deposit_received":
      return deposit === null ? null : depositLevel({ ...order, deposit });
    case "transaction.held":
      // Several may hold it at once: a hold is over when it is released.
      if ((deposit?.heldReason ?? null) === null) return null;
      return { ...NO_SUMS, subject: String(releases + 1), at: null };
    case "transaction.refunded": {
      const line = entries.find((entry) => paymentOf(entry) === subject);
      return { ...NO_SUMS, ...(subject === null ? {} : { subject }), at: line?.at ?? null };
    }
    case "transaction.cancelled":
      return { ...NO_SUMS, at: transaction.cancelledAt };
    default:
      throw new TypeError(`no such event: ${String(event satisfies never)}`);
  }
}

/** The most notices `transaction.deposit_received` of an order. The last is kept for the deposit that completes it. */
const MAX_DEPOSITS_TOLD = 10;

/** The finalized sum, where it has risen by a deposit since it was last told, or completes what was asked for. */
function depositLevel({
  deposit,
  entries,
  smallest,
  told,
}: OrderRows & { readonly deposit: DepositRecord }): ToldEvent | null {
  const came = entries.filter(({ kind, mint }) => kind === "deposit" && mint === deposit.mint);
  const received = came.reduce((sum, { amount }) => sum + amount, 0n);
  const before = told.flatMap((notice) => notice.received ?? []);
  const last = before.reduce((most, sum) => (sum > most ? sum : most), 0n);
  const wasComplete = last >= deposit.amount;
  const completes = !wasComplete && received >= deposit.amount;
  const isRoom = before.length < (wasComplete ? MAX_DEPOSITS_TOLD : MAX_DEPOSITS_TOLD - 1);
  if (!completes && !(isRoom && received - last >= smallest)) return null;
  const remaining = deposit.amount > received ? deposit.amount - received : 0n;
  return { subject: String(received), at: came.at(-1)?.at ?? null, received, remaining };
}
