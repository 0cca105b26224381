/** POST /v1/webhooks/{webhookId}/recover. */
import { z } from "zod";
import type { RecoveryBody } from "../../../payments/webhooks/recover-deliveries.ts";
import { recovery } from "../../../payments/requests.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { CREATED_AT, WEBHOOK_ID } from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { text, time } from "../../contract/small-schemas.ts";

const recovered = named(
  "Recovered",
  z.object({
    webhookId: text("The webhook's id."),
    since: time("As it was asked for."),
    recovered: z.int().describe("How many deliveries were begun."),
    hasMore: z.boolean().describe("Whether the same request again would begin more."),
  }),
) satisfies z.ZodType<RecoveryBody>;

export const recoverWebhook = endpoint({
  method: "POST",
  path: "/v1/webhooks/{webhookId}/recover",
  operationId: "recoverWebhook",
  tag: "Webhooks",
  scope: "webhooks:write",
  limit: "creates",
  summary: "Sends once more what happened since then and was not delivered.",
  description:
    "Oldest first, at most 250 at a time: while `hasMore` is true the same request begins the next. What is still being tried is left alone.",
  body: {
    schema: named("RecoverRequest", recovery),
    examples: { since: { since: CREATED_AT } },
  },
  answer: {
    status: 200,
    schema: recovered,
    examples: { some: { webhookId: WEBHOOK_ID, since: CREATED_AT, recovered: 12, hasMore: false } },
  },
  errors: ["WEBHOOK_NOT_FOUND"],
  serve: ({ service, caller, path: { webhookId }, body, options }) =>
    service.recoverWebhook(caller, webhookId, body, options),
});
