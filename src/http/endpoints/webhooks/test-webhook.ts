/** POST /v1/webhooks/{webhookId}/test. */
import { z } from "zod";
import { webhookTest } from "../../../payments/requests.ts";
import type { TestedWebhookBody } from "../../../payments/webhooks/test-webhook.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { DELIVERY_ID, WEBHOOK_ID } from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { text } from "../../contract/small-schemas.ts";
import { deliveryError } from "./delivery-schemas.ts";

const testedWebhook = named(
  "TestedWebhook",
  z.object({
    deliveryId: text("The delivery's id. It is not listed."),
    webhookId: text("The webhook's id."),
    event: text("The event that was sent."),
    delivered: z.boolean().describe("Whether the receiver answered as it has to, in time."),
    httpStatus: z.int().nullable().describe("Null when no answer came."),
    durationMs: z.int(),
    error: deliveryError,
  }),
) satisfies z.ZodType<TestedWebhookBody>;

export const testWebhook = endpoint({
  method: "POST",
  path: "/v1/webhooks/{webhookId}/test",
  operationId: "testWebhook",
  tag: "Webhooks",
  scope: "webhooks:write",
  limit: "webhookTests",
  summary: "Sends a sample notice to a webhook, once.",
  description:
    "Signed like a real one, with a `transactionId` that begins with `tx_test_`. It is answered when the attempt has ended, after ten seconds at most, and is never repeated.",
  body: {
    schema: named("WebhookTest", webhookTest),
    examples: { completed: { event: "transaction.completed" } },
  },
  answer: {
    status: 200,
    schema: testedWebhook,
    examples: {
      delivered: {
        deliveryId: DELIVERY_ID,
        webhookId: WEBHOOK_ID,
        event: "transaction.completed",
        delivered: true,
        httpStatus: 200,
        durationMs: 84,
        error: null,
      },
    },
  },
  errors: ["INVALID_EVENTS", "WEBHOOK_NOT_FOUND"],
  serve: ({ service, caller, path: { webhookId }, body, options }) =>
    service.testWebhook(caller, webhookId, body, options),
});
