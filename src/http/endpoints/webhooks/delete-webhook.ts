/** DELETE /v1/webhooks/{webhookId}. */
import { z } from "zod";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { WEBHOOK_ID } from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { text } from "../../contract/small-schemas.ts";

export const deleteWebhook = endpoint({
  method: "DELETE",
  path: "/v1/webhooks/{webhookId}",
  operationId: "deleteWebhook",
  tag: "Webhooks",
  scope: "webhooks:write",
  limit: "creates",
  summary: "Deletes a webhook: it gets nothing more.",
  description: "Queued deliveries included. A second time it is not found.",
  answer: {
    status: 200,
    schema: named(
      "DeletedWebhook",
      z.object({ webhookId: text("The webhook's id."), deleted: z.literal(true) }),
    ),
    examples: { deleted: { webhookId: WEBHOOK_ID, deleted: true } },
  },
  errors: ["WEBHOOK_NOT_FOUND"],
  serve: async ({ service, caller, path: { webhookId } }) =>
    fresh(await service.deleteWebhook(caller, webhookId)),
});
