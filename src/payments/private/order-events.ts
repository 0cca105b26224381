/** What an order tells beside its status: decided from its rows and from what it has told, whichever commit changed them. */
import type { NoticeEvent, StatusEvent } from "../../../machines/notice-events.ts";
import type { NoticeRecord } from "../tables/notices.ts";
import type { DepositRecord, EntryRecord } from "../tables/deposits.ts";
import type { TransactionView } from "../tables/orders.ts";

/** The most notices `transaction.deposit_received` of an order. The last is kept for the deposit that completes it. */
const MAX_DEPOSITS_TOLD = 10;

/** The rows of an order. */
export interface OrderRows extends TransactionView {
  /** The deposit address with its ledger, oldest line first; null in wallet mode. */
  readonly deposit: DepositRecord | null;
  readonly entries: readonly EntryRecord[];
  /** How often an operator has let the money go on: each time ends a hold. */
  readonly releases: number;
  /** Base units of the deposited asset that count as a deposit. */
  readonly smallest: bigint;
}

/** An event beside the status. It is told once, by its subject. */
export interface OrderEvent extends Pick<NoticeRecord, "received" | "remaining"> {
  readonly event: Exclude<NoticeEvent, StatusEvent>;
  /** What tells it from other events of its name. */
  readonly subject?: string;
  /** Milliseconds since the Unix epoch; null where no row tells. */
  readonly at: number | null;
}

const NO_SUMS = { received: null, remaining: null };

/** All events of an order by these rows, told ones among them; of its deposits the one that is to be told after `told`. */
export function orderEvents(order: OrderRows, told: readonly NoticeRecord[]): readonly OrderEvent[] {
  const { transaction, payments, deposit, entries, releases } = order;
  const refunds = payments.filter(({ kind, status }) => kind === "refund" && status === "finalized");
  const { cancelledAt } = transaction;
  return [
    ...depositEvents(order, told),
    ...(deposit === null || deposit.heldReason === null
      ? []
      : [{ event: "transaction.held" as const, subject: String(releases + 1), at: null, ...NO_SUMS }]),
    ...refunds.map(({ id }) => {
      const line = entries.find((entry) => entry.id.startsWith(`${id}:`));
      return { event: "transaction.refunded" as const, subject: id, at: line?.at ?? null, ...NO_SUMS };
    }),
    ...(cancelledAt === null
      ? []
      : [{ event: "transaction.cancelled" as const, at: cancelledAt, ...NO_SUMS }]),
  ];
}

/** The finalized sum, where it has risen by a deposit since it was last told, or completes what was asked for. */
function depositEvents(
  { deposit, entries, smallest }: OrderRows,
  told: readonly NoticeRecord[],
): readonly OrderEvent[] {
  if (deposit === null) return [];
  const event = "transaction.deposit_received";
  const came = entries.filter(({ kind, mint }) => kind === "deposit" && mint === deposit.mint);
  const received = came.reduce((sum, { amount }) => sum + amount, 0n);
  const before = told.filter((notice) => notice.event === event);
  const last = before.reduce((most, notice) => (notice.received ?? 0n) > most ? notice.received ?? 0n : most, 0n);
  const wasComplete = last >= deposit.amount;
  const completes = !wasComplete && received >= deposit.amount;
  const isRoom = before.length < (wasComplete ? MAX_DEPOSITS_TOLD : MAX_DEPOSITS_TOLD - 1);
  if (!completes && !(isRoom && received - last >= smallest)) return [];
  const remaining = deposit.amount > received ? deposit.amount - received : 0n;
  return [{ event, subject: String(received), at: came.at(-1)?.at ?? null, received, remaining }];
}
