/** PUT /v1/webhooks/{webhookId}. */
import { webhookUpdate } from "../../../payments/requests.ts";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { named } from "../../contract/named-schema.ts";
import { EXAMPLE_WEBHOOK, webhook } from "./webhook-schemas.ts";

export const updateWebhook = endpoint({
  method: "PUT",
  path: "/v1/webhooks/{webhookId}",
  operationId: "updateWebhook",
  tag: "Webhooks",
  scope: "webhooks:write",
  limit: "creates",
  summary: "Changes a webhook.",
  description:
    "What is left out stays as it is. A `url` counts as a registration. A new `secret` signs at once: `X-Service-Signature` is made with it, and `webhook-signature` for 24 hours with the one before, too; null ends signing. While `enabled` is false nothing is delivered, and what becomes due is dropped.",
  body: {
    schema: named("WebhookUpdate", webhookUpdate),
    examples: {
      events: { events: ["transaction.completed", "transaction.failed"] },
      enable: { enabled: true },
    },
  },
  answer: { status: 200, schema: webhook, examples: { enabled: EXAMPLE_WEBHOOK } },
  errors: ["INVALID_URL", "INVALID_EVENTS", "WEBHOOK_NOT_FOUND", "URL_UNREACHABLE"],
  serve: async ({ service, caller, path: { webhookId }, body, options }) =>
    fresh(await service.updateWebhook(caller, webhookId, body, options)),
});
