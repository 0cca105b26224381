/** The notices that webhooks are told: the charts say which step announces one, all else takes its names from here. */

/** The events a webhook may subscribe to, in the order a transaction goes through them. */
export const NOTICE_EVENTS = [
  "transaction.pending",
  "transaction.confirmed",
  "transaction.completed",
  "transaction.failed",
] as const;

/** The name of a notice's event. */
export type NoticeEvent = (typeof NOTICE_EVENTS)[number];
