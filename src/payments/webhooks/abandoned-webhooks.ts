/** Finds webhooks that did not take their notices. */
import { matterId, type AttentionSource, type FoundMatter } from "../frame/acts/matter.ts";
import type { WebhookStorage } from "./webhook-storage.ts";

/** The fact up to which time of a delivery's making an operator has dropped a webhook's abandoned deliveries. */
function droppedUpToFact(webhookId: string): string {
  return `abandonedDropped:${webhookId}`;
}

/**
 * One matter for each failing webhook, however many deliveries have failed; over when the webhook is deleted, or the
 * matter is dropped.
 */
export function abandonedWebhooks(
  storage: Pick<WebhookStorage, "abandonedDeliveries" | "webhook" | "fact">,
): AttentionSource {
  return async (limit) => {
    const found = await Promise.all(
      (await storage.abandonedDeliveries(limit)).map(async ({ webhookId, count, oldest, newest }) => {
        const webhook = await storage.webhook(webhookId);
        const dropFact = droppedUpToFact(webhookId);
        const droppedUpTo = Number((await storage.fact(dropFact)) ?? 0);
        if (webhook === null || webhook.deletedAt !== null || newest <= droppedUpTo) return [];
        const matter: FoundMatter = {
          kind: "abandoned_webhook",
          id: matterId("abandoned_webhook", webhookId),
          accountId: webhook.accountId,
          since: droppedUpTo > 0 ? null : oldest,
          message: `webhook ${webhookId} did not take ${count} of its notices, which are no longer sent`,
          actions: ["drop"],
          dropFact,
          dropUpTo: newest,
        };
        return [matter];
      }),
    );
    return found.flat();
  };
}
