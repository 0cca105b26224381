/** A webhook as its owner sees it. */
import { z } from "zod";
import type { WebhookBody, WholeWebhookBody } from "../../../payments/webhooks/webhook-body.ts";
import { CREATED_AT, WEBHOOK_ID } from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { text, time } from "../../contract/small-schemas.ts";

/** The answer to a registration. */
export const registeredWebhook = named(
  "RegisteredWebhook",
  z.object({
    webhookId: text("The webhook's id."),
    url: text("Where notices are sent."),
    events: z.array(z.string()).describe("The events that it is told."),
    createdAt: time("When it was registered."),
  }),
) satisfies z.ZodType<WebhookBody>;

/** The webhook in the answers of all endpoints except registration. */
export const webhook = named(
  "Webhook",
  registeredWebhook.extend({
    enabled: z.boolean().describe("Nothing is delivered to a webhook that is not enabled."),
    disabledReason: z
      .string()
      .nullable()
      .describe("Why it is not enabled, disabled_by_owner or disabled_after_failures; null while it is."),
  }),
) satisfies z.ZodType<WholeWebhookBody>;

/** A new webhook. */
export const EXAMPLE_REGISTERED = {
  webhookId: WEBHOOK_ID,
  url: "https://shop.example/webhooks/payments",
  events: ["transaction.completed", "transaction.failed"],
  createdAt: CREATED_AT,
};

/** A webhook that is at work. */
export const EXAMPLE_WEBHOOK = { ...EXAMPLE_REGISTERED, enabled: true, disabledReason: null };
