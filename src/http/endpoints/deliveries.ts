/** Endpoints of deliveries: a webhook's list of them, and sending once more. */
// modules: webhooks
import { deliverySchema } from "../../payments/webhooks/deliveries.ts";
import {
  CREATED_AT,
  DELIVERY_ID,
  EVENT_ID,
  SETTLED_AT,
  TRANSACTION_ID,
  WEBHOOK_ID,
} from "../contract/examples.ts";
import { named, pageOf } from "../../payments/frame/body-schemas.ts";
import { pageQuery } from "../../payments/frame/request-fields.ts";
import { recovery } from "../../payments/webhooks/requests.ts";
import { endpoint, fresh } from "../contract/endpoint.ts";
import { recoverySchema } from "../../payments/webhooks/recover-deliveries.ts";

const EXAMPLE_DELIVERY = {
  deliveryId: DELIVERY_ID,
  webhookId: WEBHOOK_ID,
  eventId: EVENT_ID,
  event: "transaction.completed",
  transactionId: TRANSACTION_ID,
  status: "delivered",
  createdAt: CREATED_AT,
  attempts: [
    {
      number: 1,
      startedAt: SETTLED_AT,
      durationMs: 84,
      phases: { dnsMs: 3, connectMs: 11, tlsMs: 24, firstByteMs: 81 },
      httpStatus: 200,
      error: null,
      excerpt: "ok",
    },
  ],
} as const;

const deliveries = named("DeliveryPage", pageOf(deliverySchema));

export const listDeliveries = endpoint({
  method: "GET",
  path: "/v1/webhooks/{webhookId}/deliveries",
  operationId: "listDeliveries",
  tag: "Webhooks",
  scope: "webhooks:read",
  limit: "reads",
  summary: "A webhook's deliveries with their attempts, newest first.",
  query: pageQuery,
  answer: {
    status: 200,
    schema: deliveries,
    examples: { page: { data: [EXAMPLE_DELIVERY], hasMore: false } },
  },
  errors: ["WEBHOOK_NOT_FOUND"],
  serve: async ({ service, caller, path: { webhookId }, query }) =>
    fresh(await service.deliveries(caller, webhookId, query)),
});

export const redeliver = endpoint({
  method: "POST",
  path: "/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver",
  operationId: "redeliver",
  tag: "Webhooks",
  scope: "webhooks:write",
  limit: "creates",
  summary: "Sends a notice once more.",
  description:
    "The same id and the same bytes, with six attempts of its own. Of a delivery that waits for its next attempt it ends the pause. It takes no body.",
  answer: {
    status: 200,
    schema: deliverySchema,
    examples: { pending: { ...EXAMPLE_DELIVERY, status: "pending" } },
  },
  errors: ["VALIDATION_ERROR", "WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND"],
  serve: ({ service, caller, path: { webhookId, deliveryId }, options }) =>
    service.redeliver(caller, { webhookId, deliveryId }, options),
});

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
    schema: recoverySchema,
    examples: { some: { webhookId: WEBHOOK_ID, since: CREATED_AT, recovered: 12, hasMore: false } },
  },
  errors: ["WEBHOOK_NOT_FOUND"],
  serve: ({ service, caller, path: { webhookId }, body, options }) =>
    service.recoverWebhook(caller, webhookId, body, options),
});
