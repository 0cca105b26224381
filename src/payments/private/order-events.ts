/** The notices of an order's events beside its status: each event is noted with its commit, and told behind it. */
import type { NoticeRecord, UntoldEventRecord } from "../frame/tables/notices.ts";
import type { OrderedTransaction, OrderView } from "./tables.ts";
import { newNotice, untoldEvent } from "../frame/notices/notice-writes.ts";
import type { PrivateWrite } from "./private-storage.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import { isGivenBack } from "./order-books.ts";

/** Belongs into the commit that books a rest, a redirect or a return of foreign tokens: nothing where it gives back nothing. */
export function refundEvent(
  order: string,
  { transfer, legs }: Pick<AttemptRecord, "transfer" | "legs">,
): readonly PrivateWrite[] {
  if (transfer === null || legs?.some(isGivenBack) !== true) return [];
  return [untoldEvent(order, { event: "transaction.refunded", by: transfer, subject: transfer })];
}

/** The rows of an order. */
export interface OrderRows extends Pick<OrderedTransaction, "transaction" | "order"> {
  /** Base units of the deposited asset that count as a deposit; 0 in wallet mode. */
  readonly smallest: bigint;
  /** Its earlier notices. */
  readonly told: readonly NoticeRecord[];
}

/**
 * The notice of an event; null if nothing is to be told, such as of a small deposit or a hold that is over; and for an event
 * of others.
 */
export function orderNotice({ event }: UntoldEventRecord, rows: OrderRows, now: number): NoticeRecord | null {
  const { transaction, order } = rows;
  switch (event) {
    case "transaction.deposit_received":
      return order === null ? null : depositNotice(rows, order, now);
    case "transaction.held": {
      // Several may hold it at once, which is one hold until they are released.
      const hold = order?.holds.find(({ endedAt }) => endedAt === null);
      return hold === undefined ? null : newNotice(transaction, { event, subject: hold.id, createdAt: now });
    }
    default:
      return null;
  }
}

/** The most notices `transaction.deposit_received` of an order. The last is kept for the deposit that completes it. */
const MAX_DEPOSITS_TOLD = 10;

/** The finalized sum, if it has risen by a deposit since it was last told, or completes what was asked for. */
function depositNotice(
  { transaction, smallest, told }: OrderRows,
  { order: { mint, required }, levels }: OrderView,
  now: number,
): NoticeRecord | null {
  const received = levels.find((level) => level.mint === mint)?.received ?? 0n;
  const before = told.flatMap((notice) => notice.received ?? []);
  const last = before.reduce((most, sum) => (sum > most ? sum : most), 0n);
  const completes = last < required && received >= required;
  const isRoom = before.length < (last < required ? MAX_DEPOSITS_TOLD - 1 : MAX_DEPOSITS_TOLD);
  if (!completes && !(isRoom && received - last >= smallest)) return null;
  const remaining = required > received ? required - received : 0n;
  const event = "transaction.deposit_received";
  return newNotice(transaction, { event, subject: String(received), received, remaining, createdAt: now });
}
