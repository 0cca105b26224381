/** When work is late. */

/** A worker looks every 1.25 s and a lease lasts 15 s: work that waits longer than both is done by no worker. */
export const OVERDUE_MS = 20_000;
