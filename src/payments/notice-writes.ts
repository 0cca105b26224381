/** The notices that a step announces, as rows of its commit, and the mark of a step after which an order may have more to tell. */
import type { NoticeEvent } from "../../machines/notice-events.ts";
import type { AnnounceParams } from "../../machines/wallet-transfer.ts";
import type { PaymentTables } from "./tables.ts";
import type { NoticeRecord } from "./tables/notices.ts";
import type { TransactionRecord } from "./tables/orders.ts";
import type { PaymentWrite } from "./payment-storage.ts";
import type { Effect, PlannedEffect } from "../engine/index.ts";
import { derivedId } from "./ids.ts";

/** The effect `announce` of the charts of transactions. */
export type AnnounceEffect = Effect<AnnounceParams, never, PaymentTables>;

/** The transaction after the step. */
export type ShownTransaction = Pick<
  TransactionRecord,
  "status" | "reason" | "signature" | "blockTime" | "fee"
>;

/** A step that announces, and its time. */
interface AnnouncingStep {
  readonly effects: readonly PlannedEffect[];
  readonly at: number;
}

/**
 * The id of a notice: two of one event tell of different subjects (a hold, a refund, a sum). An event of a status has no
 * subject.
 */
export function noticeId(transactionId: string, event: NoticeEvent, subject?: string): string {
  return derivedId("evt", transactionId, event, ...(subject === undefined ? [] : [subject]));
}

/**
 * Has the order looked at for events to tell beside its status, behind this commit: so that no such event can refuse or
 * delay a step. `change` distinguishes the commit from all others of the order.
 */
export function orderChange(transactionId: string, change: string): PaymentWrite {
  return { table: "orderChanges", insert: { id: `${transactionId}:${change}`, transactionId } };
}

/**
 * Writes a row for each `announce`. A notice of a transaction exists at most once: the table refuses the same id a
 * second time.
 */
export function noticeWrites(
  transactionId: string,
  shown: ShownTransaction,
  { effects, at }: AnnouncingStep,
): readonly PaymentWrite[] {
  return effects
    .filter(({ name }) => name === "announce")
    .map(({ params }) => {
      const { notice: event } = params as AnnounceParams;
      const insert: NoticeRecord = {
        ...shown,
        id: noticeId(transactionId, event),
        transactionId,
        event,
        // Finalized before it was seen confirmed: one commit announces both statuses.
        status: event === "transaction.confirmed" ? "confirmed" : shown.status,
        body: null,
        webhooks: null,
        received: null,
        remaining: null,
        createdAt: at,
      };
      return { table: "notices", insert };
    });
}
