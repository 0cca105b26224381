/** GET /v1/webhooks/{webhookId}. */
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { EXAMPLE_WEBHOOK, webhook } from "./webhook-schemas.ts";

export const getWebhook = endpoint({
  method: "GET",
  path: "/v1/webhooks/{webhookId}",
  operationId: "getWebhook",
  tag: "Webhooks",
  scope: "webhooks:read",
  limit: "reads",
  summary: "A webhook.",
  answer: { status: 200, schema: webhook, examples: { enabled: EXAMPLE_WEBHOOK } },
  errors: ["WEBHOOK_NOT_FOUND"],
  serve: async ({ service, caller, path: { webhookId } }) => fresh(await service.webhook(caller, webhookId)),
});
