/** Rows of notices: a status notice is part of the commit that changes the status, an event is told after its commit. */
import type { AnnounceParams } from "../../../../machines/wallet-transfer.ts";
import type { FrameTables } from "../tables.ts";
import type { NoticeRecord, UntoldEventRecord } from "../tables/notices.ts";
import type { TransactionRecord } from "../tables/orders.ts";
import type { FrameWrite } from "../frame-storage.ts";
import type { Effect, PlannedEffect } from "../../../engine/index.ts";
import { derivedId } from "../ids.ts";

/** The effect `announce` of the charts of transactions. */
export type AnnounceEffect = Effect<AnnounceParams, never, FrameTables>;

/** Announces to nobody: the row of the notice stays as the step has written it. */
export const announceNothing: AnnounceEffect = {
  withStep: async ({ writes }) => ({ writes, starts: [], isWhole: true }), // modules: with-step
  run: async () => undefined,
};

/** Makes the notice of an event from the notices before it; null if the event adds nothing to them. */
export type EventNotice = (
  event: UntoldEventRecord,
  rows: { readonly transaction: TransactionRecord; readonly told: readonly NoticeRecord[] },
  now: number,
) => NoticeRecord | null;

/** The notice of an event that the rows of the transaction tell all of; null for an event of others. */
export const plainEventNotice: EventNotice = ({ event, subject }, { transaction }, now) => {
  const isPlain = event === "transaction.refunded" || event === "transaction.cancelled";
  return isPlain ? newNotice(transaction, { event, subject, createdAt: now }) : null;
};

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

/** The subject of an event, such as a refund: two events of one name have different subjects. */
type Subject = { readonly subject?: string | null };

/** A notice that is not announced yet, with an id of its own for each subject. */
export function newNotice(
  transaction: ShownTransaction & { readonly id: string },
  { event, subject, ...own }: Partial<NoticeRecord> & Pick<NoticeRecord, "event" | "createdAt"> & Subject,
): NoticeRecord {
  const { id: transactionId, status, reason, signature, blockTime, fee } = transaction;
  const id = derivedId("evt", transactionId, event, ...(typeof subject === "string" ? [subject] : []));
  const shown = { status, reason, signature, blockTime, fee };
  const unsaid = { body: null, received: null, remaining: null };
  return { ...shown, ...unsaid, ...own, id, transactionId, event };
}

/**
 * The row of an event, whose notice the service writes after the commit: a notice can neither refuse nor delay a step. `by`
 * identifies the commit, so that two commits never write one row.
 */
export function untoldEvent(
  transactionId: string,
  { event, by, subject = null }: Pick<UntoldEventRecord, "event"> & { readonly by: string } & Subject,
): FrameWrite {
  const id = [transactionId, event, by].join(":");
  return { table: "untoldEvents", insert: { id, transactionId, event, subject } };
}

/**
 * Writes a row for each `announce`. A notice of a transaction exists at most once: the table refuses the same id a
 * second time.
 */
export function noticeWrites(
  transactionId: string,
  shown: ShownTransaction,
  { effects, at }: AnnouncingStep,
): readonly FrameWrite[] {
  return effects
    .filter(({ name }) => name === "announce")
    .map(({ params }) => {
      const { notice: event } = params as AnnounceParams;
      // Finalized before it was seen confirmed: one commit announces both statuses.
      const status = event === "transaction.confirmed" ? "confirmed" : shown.status;
      const insert = newNotice({ ...shown, status, id: transactionId }, { event, createdAt: at });
      return { table: "notices", insert };
    });
}
