/** GET /v1/webhooks. */
import { z } from "zod";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { named } from "../../contract/named-schema.ts";
import { EXAMPLE_WEBHOOK, webhook } from "./webhook-schemas.ts";

export const listWebhooks = endpoint({
  method: "GET",
  path: "/v1/webhooks",
  operationId: "listWebhooks",
  tag: "Webhooks",
  scope: "webhooks:read",
  limit: "reads",
  summary: "All webhooks of the account.",
  description: "All of them at once: the list is never paged.",
  answer: {
    status: 200,
    schema: named("WebhookList", z.object({ webhooks: z.array(webhook) })),
    examples: { one: { webhooks: [EXAMPLE_WEBHOOK] } },
  },
  errors: [],
  serve: async ({ service, caller }) => fresh(await service.webhooks(caller)),
});
