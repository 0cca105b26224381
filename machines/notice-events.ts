/** The notices that webhooks are told: the charts say which step announces one, all else takes its names from here. */

/** The events of a status, in the order a transaction goes through them: each at most once, and in this order. */
export const STATUS_EVENTS = [
  "transaction.pending",
  "transaction.confirmed",
  "transaction.completed",
  "transaction.failed",
] as const;

/** The name of an event of a status. */
export type StatusEvent = (typeof STATUS_EVENTS)[number];

/** The events a webhook may subscribe to. Events beside the status neither delay others nor are delayed by them. */
export const NOTICE_EVENTS = [
  ...STATUS_EVENTS,
  "transaction.deposit_received",
  "transaction.held",
  "transaction.refunded",
  "transaction.cancelled",
] as const;

/** The name of a notice's event. */
export type NoticeEvent = (typeof NOTICE_EVENTS)[number];
