/** Personal data of webhooks, and whether an erasure has to wait for them. */
import type { ErasureCheck } from "../frame/acts/erasure-check.ts";
import type { ModuleErasure } from "../frame/open-module.ts";
import { DELETED, webhookListChange } from "./webhook-list.ts";
import type { WebhookStorage, WebhookWrite } from "./webhook-storage.ts";

/** Null for a transaction without deliveries under way. */
export async function deliveriesUnderWay(
  storage: Pick<WebhookStorage, "deliveries">,
  transactionId: string,
): Promise<ErasureCheck | null> {
  const deliveries = await storage.deliveries(transactionId);
  if (deliveries.every(({ status }) => status !== "pending")) return null;
  return { instances: [], refusal: "webhooks are still told of it", leastAgeMs: 0, young: "" };
}

export function webhookErasure(storage: WebhookStorage): ModuleErasure {
  const erasure = {
    async account(accountId: string, now: number): Promise<readonly WebhookWrite[]> {
      // The version first: a webhook that is registered between the two reads refuses the commit.
      const change = await webhookListChange(storage, accountId, now);
      const webhooks = await storage.webhooks(accountId);
      const set = { ...DELETED, deletedAt: now };
      return [
        change,
        ...webhooks.map(({ id, version: expectedVersion }) => {
          return { table: "webhooks" as const, id, set, expectedVersion };
        }),
      ];
    },
    /** An excerpt of a receiver's answer may hold anything. */
    async transaction(transactionId: string): Promise<readonly WebhookWrite[]> {
      const deliveries = await storage.deliveries(transactionId);
      const attempts = await Promise.all(deliveries.map(({ id }) => storage.deliveryAttempts(id)));
      return attempts
        .flat()
        .map(({ id }) => ({ table: "deliveryAttempts" as const, id, set: { excerpt: null } }));
    },
    async accountOf({ webhookId }: Readonly<Record<string, string>>): Promise<string | null> {
      return webhookId === undefined ? null : ((await storage.webhook(webhookId))?.accountId ?? null);
    },
  };
  // The tables that it writes are the module's own.
  return erasure as ModuleErasure;
}
