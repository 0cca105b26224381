/** Counts waiting deliveries by account: a slow receiver holds up its own account, not the service. */
import { OVERDUE_MS } from "../frame/overdue.ts";
import type { WebhookStorage } from "./webhook-storage.ts";

/** The deliveries of one account that wait for their first attempt. */
export interface DeliveryBacklog {
  readonly accountId: string;
  /** The number of the account's deliveries among the thousand that wait longest in the whole service. */
  readonly waiting: number;
  /** The wait of the oldest delivery, in milliseconds. */
  readonly oldestMs: number;
}

/** The part of a service's health that webhooks add. */
export interface WebhookHealth {
  /** Up to five accounts whose deliveries wait for their first attempt, the longest first; no matter of the service's own. */
  readonly backlog: readonly DeliveryBacklog[];
}

const MAX_READ = 1_000;
const MAX_ACCOUNTS = 5;

/**
 * The accounts of the deliveries that wait longest, the longest first; accounts within the normal waiting time are left
 * out.
 */
export async function deliveryBacklog(
  storage: Pick<WebhookStorage, "untriedDeliveries">,
  now: number,
): Promise<readonly DeliveryBacklog[]> {
  const found = new Map<string, DeliveryBacklog>();
  for (const { accountId, createdAt } of await storage.untriedDeliveries(MAX_READ)) {
    const { waiting, oldestMs } = found.get(accountId) ?? { waiting: 0, oldestMs: now - createdAt };
    found.set(accountId, { accountId, waiting: waiting + 1, oldestMs });
  }
  return [...found.values()].filter(({ oldestMs }) => oldestMs > OVERDUE_MS).slice(0, MAX_ACCOUNTS);
}
