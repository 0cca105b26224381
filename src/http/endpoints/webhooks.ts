/** Endpoints of webhooks: register, read, change, delete, and try out. */
// modules: webhooks
import { z } from "zod";
import { registeredWebhook, webhookSchema } from "../../payments/webhooks/webhook-fields.ts";
import { CREATED_AT, WEBHOOK_ID, DELIVERY_ID } from "../contract/examples.ts";
import { named, text } from "../../payments/frame/body-schemas.ts";
import { webhookRequest, webhookUpdate, webhookTest } from "../../payments/webhooks/requests.ts";
import { endpoint, fresh } from "../contract/endpoint.ts";
import { testedWebhook } from "../../payments/webhooks/test-webhook.ts";

const EXAMPLE_REGISTERED = {
  webhookId: WEBHOOK_ID,
  url: "https://shop.example/webhooks/payments",
  events: ["transaction.completed", "transaction.failed"],
  createdAt: CREATED_AT,
};

const EXAMPLE_WEBHOOK = { ...EXAMPLE_REGISTERED, enabled: true, disabledReason: null };

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
    schema: named("WebhookList", z.object({ webhooks: z.array(webhookSchema) })),
    examples: { one: { webhooks: [EXAMPLE_WEBHOOK] } },
  },
  errors: [],
  serve: async ({ service, caller }) => fresh(await service.webhooks(caller)),
});

export const getWebhook = endpoint({
  method: "GET",
  path: "/v1/webhooks/{webhookId}",
  operationId: "getWebhook",
  tag: "Webhooks",
  scope: "webhooks:read",
  limit: "reads",
  summary: "A webhook.",
  answer: { status: 200, schema: webhookSchema, examples: { enabled: EXAMPLE_WEBHOOK } },
  errors: ["WEBHOOK_NOT_FOUND"],
  serve: async ({ service, caller, path: { webhookId } }) => fresh(await service.webhook(caller, webhookId)),
});

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
  answer: { status: 200, schema: webhookSchema, examples: { enabled: EXAMPLE_WEBHOOK } },
  errors: ["INVALID_URL", "INVALID_EVENTS", "WEBHOOK_NOT_FOUND", "URL_UNREACHABLE"],
  serve: async ({ service, caller, path: { webhookId }, body, options }) =>
    fresh(await service.updateWebhook(caller, webhookId, body, options)),
});

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
