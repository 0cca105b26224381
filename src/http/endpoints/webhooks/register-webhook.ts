/** POST /v1/webhooks. */
import { webhookRequest } from "../../../payments/requests.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { named } from "../../contract/named-schema.ts";
import { EXAMPLE_REGISTERED, registeredWebhook } from "./webhook-schemas.ts";

export const registerWebhook = endpoint({
  method: "POST",
  path: "/v1/webhooks",
  operationId: "registerWebhook",
  tag: "Webhooks",
  scope: "webhooks:write",
  limit: "webhook_registration",
  summary: "Registers a webhook.",
  description:
    "The URL is tried with a HEAD request, without payload and signature; any HTTP answer counts. The secret is never answered.",
  body: {
    schema: named("WebhookRequest", webhookRequest),
    examples: {
      signed: {
        url: "https://shop.example/webhooks/payments",
        events: ["transaction.completed", "transaction.failed"],
        secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
      },
    },
  },
  answer: { status: 201, schema: registeredWebhook, examples: { registered: EXAMPLE_REGISTERED } },
  errors: ["INVALID_URL", "INVALID_EVENTS", "WEBHOOK_LIMIT_EXCEEDED", "URL_UNREACHABLE"],
  serve: ({ service, caller, body, options }) => service.registerWebhook(caller, body, options),
});
