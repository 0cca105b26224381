/** The events that accounts are told of their transactions. */
import type { NoticeEvent, StatusEvent } from "../../../../machines/notice-events.ts";
import { column, ownTable, type Row } from "../../../../storage/table.ts";
import type { TransactionStatus } from "./orders.ts";
import { rowOf, type TableReader, rowsOf } from "./read.ts";

/** Events for webhooks, with the state of the transaction at the time. */
export const notices = ownTable("notices", {
  columns: {
    id: "text",
    transactionId: "text",
    event: "text",
    status: column<TransactionStatus>("text"),
    reason: "text?",
    signature: "text?",
    blockTime: "integer?",
    /** Base units of the fee's asset. */
    fee: "amount?",
    /** The body, sent byte for byte on every attempt; null until it was serialised, once, with its deliveries begun. */
    body: "text?",
    /** Event `transaction.deposit_received`: base units of the order's asset that had come, and that were missing. Null for others. */
    received: "amount?",
    remaining: "amount?",
    createdAt: "integer",
  },
  settled: true,
  // A notice was committed after the notice before; the clocks of their processes may differ.
  indexes: { ofTransaction: ["transactionId"] },
});

export interface NoticeRecord extends Row<typeof notices> {}

/** Events beside the status that are to be told. A row goes with the notice that comes of it. */
export const untoldEvents = ownTable("untoldEvents", {
  columns: {
    id: "text",
    transactionId: "text",
    event: column<Exclude<NoticeEvent, StatusEvent>>("text"),
    /** The details of the event that its commit knows, such as a refund. */
    subject: "text?",
  },
});

export interface UntoldEventRecord extends Row<typeof untoldEvents> {}

export const noticeReads = (read: TableReader) => ({
  notice: (id: string) => rowOf(read, notices, id),
  /** Notices by their ids, in any order; absent ones are left out. */
  noticesById: (ids: readonly string[]) => rowsOf(read, notices, ids),
  /** All notices of a transaction, oldest first. */
  notices: (transactionId: string) =>
    read.find({ table: notices, index: "ofTransaction", equals: { transactionId } }),
  /** Up to `limit` notices by ascending id, the first one above `after`. */
  noticesAfter: (after: string, limit: number) =>
    read.find({ table: notices, index: "key", after: [after], limit }),
  /** Up to `limit` events by ascending id, the first one above `after`. */
  untoldEventsAfter: (after: string, limit: number) =>
    read.find({ table: untoldEvents, index: "key", after: [after], limit }),
});
