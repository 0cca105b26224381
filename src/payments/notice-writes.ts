/** The notices that a step announces, as rows of its commit. */
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
        id: derivedId("evt", transactionId, event),
        transactionId,
        event,
        // Finalized before it was seen confirmed: one commit announces both statuses.
        status: event === "transaction.confirmed" ? "confirmed" : shown.status,
        body: null,
        webhooks: null,
        createdAt: at,
      };
      return { table: "notices", insert };
    });
}
