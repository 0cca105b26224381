/** Disables a webhook that receives nothing any more: decided in the commit that abandons one more of its deliveries. */
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Clock } from "../../runtime.ts";
import { webhookListChange } from "./webhook-list.ts";

/** When the service disables a webhook: both have to be true. */
export interface DisableRule {
  /** This many deliveries were abandoned since the last one that was delivered. */
  readonly abandoned: number;
  /** None was delivered for this many milliseconds. */
  readonly undeliveredMs: number;
}

/** What deciding it needs. */
interface Disabling {
  readonly storage: Pick<PaymentStorage, "webhook" | "webhookChanges" | "lastDeliveredAt" | "abandonedSince">;
  readonly clock: Clock;
  readonly disableAfter: DisableRule | "never";
}

/** The reason that such a webhook shows. */
const DISABLED_AFTER_FAILURES = "disabled_after_failures";

/**
 * What abandoning one more delivery writes besides. What was abandoned before the last delivery, or before the webhook
 * was last enabled, does not count. The write expects the version of the webhook that was read: when its owner changes
 * it at the same time, or another delivery disables it, the commit is refused and this is asked again.
 */
export async function disablingWrites(
  { storage, clock, disableAfter }: Disabling,
  webhookId: string,
): Promise<readonly PaymentWrite[]> {
  if (disableAfter === "never") return [];
  const webhook = await storage.webhook(webhookId);
  if (webhook === null || webhook.deletedAt !== null || webhook.disabledAt !== null) return [];
  const deliveredAt = await storage.lastDeliveredAt(webhookId);
  const since = Math.max(webhook.enabledAt, deliveredAt ?? 0);
  const now = clock.now();
  if (now - since < disableAfter.undeliveredMs) return [];
  // The one that is being abandoned is not counted yet.
  const others = disableAfter.abandoned - 1;
  if (others > 0 && (await storage.abandonedSince(webhookId, since, others)) < others) return [];
  const set = { disabledAt: now, disabledReason: DISABLED_AFTER_FAILURES };
  const change = await webhookListChange(storage, webhook.accountId, now);
  return [{ table: "webhooks", id: webhookId, set, expectedVersion: webhook.version }, change];
}
