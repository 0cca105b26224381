/** A refund counts against its payment: for as long as its bytes may land, and when they have. */
import { untoldEvent } from "../frame/notices/notice-writes.ts";
import type { FrameWrite } from "../frame/frame-storage.ts";
import type { TransactionRecord } from "../frame/tables/orders.ts";
import { countOf } from "../frame/transactions/refunds.ts";

/** States of a transfer whose bytes are proved dead, or have landed with an error: only these free what a refund counts. */
const DEAD: ReadonlySet<unknown> = new Set(["failed", "expired", "expiredForGood", "cancelledForGood"]);

/** States of a refund that has moved its money. */
const LANDED: ReadonlySet<unknown> = new Set(["completed", "landedAfterExpiry", "landedAfterCancel"]);

/** A step of the transfer that refunds, from one state to the next. */
interface RefundStep {
  readonly before: unknown;
  readonly after: unknown;
  readonly at: number;
}

/**
 * Stops counting a refund that can move nothing any more; counts it again if it has landed all the same; and has the refunded
 * payment tell of a final one. Nothing for a transfer that refunds nothing.
 */
export function refundWrites(
  transactionId: string,
  refundOf: string | undefined,
  { before, after, at }: RefundStep,
): readonly FrameWrite[] {
  if (refundOf === undefined) return [];
  const isDead = DEAD.has(after);
  const counted = {
    table: "reservations",
    id: countOf(transactionId),
    set: { releasedAt: isDead ? at : null },
  } as const;
  return [
    ...(DEAD.has(before) === isDead ? [] : [counted]),
    ...(LANDED.has(after) ? [toldOf(transactionId, refundOf)] : []),
  ];
}

/** Counts a refund that an operator has found on the chain after its end, and has it told. */
export function foundRefund({ id, refundOf }: TransactionRecord): readonly FrameWrite[] {
  if (refundOf === null) return [];
  return [{ table: "reservations", id: countOf(id), set: { releasedAt: null } }, toldOf(id, refundOf)];
}

function toldOf(transactionId: string, refundOf: string): FrameWrite {
  return untoldEvent(refundOf, { event: "transaction.refunded", by: transactionId, subject: transactionId });
}
