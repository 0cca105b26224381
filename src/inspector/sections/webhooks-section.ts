/** The pages of webhooks: a list, and a page for each with its deliveries. */
// modules: webhooks
import { absent, present } from "../found-page.ts";
import { deliveryPage, webhookPage, webhooksPage } from "../pages/webhooks-page.ts";
import { readLadder, readLadders, readWebhooks } from "../payments/read-webhooks.ts";
import type { InspectorSection } from "../section.ts";

export const webhooksSection: InspectorSection = {
  path: "webhooks",
  one: "webhook",
  title: "Webhooks",
  isThere: ({ payments }) => payments !== undefined,
  async addressOf(links, id, { payments }) {
    const webhook = (await payments?.reads.webhook(id)) ?? null;
    return webhook === null ? null : links.file("webhook", { id });
  },
  async find(links, { payments, storage, acting }, { query, redact }) {
    if (payments === undefined) {
      return absent(links, "There are no webhooks: this is an engine without payments.");
    }
    const id = query.get("id");
    if (id === null) return present(webhooksPage(links, await readWebhooks(payments), redact));
    const webhook = await payments.reads.webhook(id);
    if (webhook === null) return absent(links, `No webhook has the id “${id}”.`);
    const ladders = await readLadders(payments, storage, id);
    const acts = (await acting?.offers(id)) ?? [];
    return present(webhookPage(links, { id, url: webhook.url, ladders, acts, redact }));
  },
  async gone(links, { payments, storage, acting }, { query, redact }) {
    const id = query.get("id")?.trim() ?? "";
    const delivery = (await payments?.reads.delivery(id)) ?? null;
    if (payments === undefined || delivery === null) return null;
    const ladder = await readLadder(payments, storage, delivery);
    const acts = (await acting?.offers(id)) ?? [];
    return present(deliveryPage(links, { ladder, acts, redact }));
  },
};
