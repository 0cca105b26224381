/** Counts waiting deliveries by account: a slow receiver holds up its own account, not the service. */
import type { PaymentStorage } from "../payments/payment-storage.ts";

/** The deliveries of one account that wait for their first attempt. */
export interface DeliveryBacklog {
  readonly accountId: string;
  /** The number of the account's deliveries among the thousand that wait longest in the whole service. */
  readonly waiting: number;
  /** The wait of the oldest delivery, in milliseconds. */
  readonly oldestMs: number;
}

/** A worker looks every 1.25 s and a lease lasts 15 s: work that waits longer than both is done by no worker. */
export const OVERDUE_MS = 20_000;

const MAX_READ = 1_000;
const MAX_ACCOUNTS = 5;

/**
 * The accounts of the deliveries that wait longest, the longest first; accounts within the normal waiting time are left
 * out.
 */
export async function deliveryBacklog(
  storage: Pick<PaymentStorage, "untriedDeliveries">,
  now: number,
): Promise<readonly DeliveryBacklog[]> {
  const found = new Map<string, DeliveryBacklog>();
  for (const { accountId, createdAt } of await storage.untriedDeliveries(MAX_READ)) {
    const { waiting, oldestMs } = found.get(accountId) ?? { waiting: 0, oldestMs: now - createdAt };
    found.set(accountId, { accountId, waiting: waiting + 1, oldestMs });
  }
  return [...found.values()].filter(({ oldestMs }) => oldestMs > OVERDUE_MS).slice(0, MAX_ACCOUNTS);
}
