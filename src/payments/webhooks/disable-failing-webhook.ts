/** Disables a webhook that no longer receives: decided in the commit that abandons a delivery. */
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Clock } from "../../runtime.ts";
import { webhookListChange } from "./webhook-list.ts";

/** Conditions to disable a webhook: both have to be true. */
export interface DisableRule {
  /** This many deliveries were abandoned since the last success. */
  readonly abandoned: number;
  /** No delivery succeeded for this many milliseconds. */
  readonly undeliveredMs: number;
}

/** Dependencies of disabling. */
interface Disabling {
  readonly storage: Pick<PaymentStorage, "webhook" | "webhookChanges" | "lastDeliveredAt" | "abandonedSince">;
  readonly clock: Clock;
  readonly disableAfter: DisableRule | "never";
}

/** The reason that such a webhook shows. */
const DISABLED_AFTER_FAILURES = "disabled_after_failures";

/**
 * Further writes of the commit that abandons a delivery. Deliveries abandoned before the last success, or before the
 * webhook was last enabled, do not count. The write expects the version of the webhook that was read: when its owner
 * changes the webhook meanwhile, or a different delivery disables it, the commit is refused and decided again.
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
