/** Endpoints of deliveries: a webhook's list of them, and sending once more. */
import { z } from "zod";
import type { DeliveryBody } from "../../payments/webhooks/deliveries.ts";
import {
  CREATED_AT,
  DELIVERY_ID,
  EVENT_ID,
  SETTLED_AT,
  TRANSACTION_ID,
  WEBHOOK_ID,
} from "../contract/examples.ts";
import { named, text, time, pageOf } from "../contract/schemas.ts";
import type { Page } from "../../payments/page.ts";
import { pageQuery, recovery } from "../../payments/requests.ts";
import { endpoint, fresh } from "../contract/endpoint.ts";
import type { RecoveryBody } from "../../payments/webhooks/recover-deliveries.ts";

export const deliveryError = z
  .string()
  .nullable()
  .describe(
    "Null when it was delivered; otherwise dns, connect, tls, timeout, reset, redirect, http_status, headers_too_large or crashed.",
  );

const openingMs = z.int().nullable().describe("Null where a kept connection served, or none was opened.");

const attempt = named(
  "DeliveryAttempt",
  z.object({
    number: z.int().describe("From 1."),
    startedAt: time("When it began."),
    durationMs: z.int().describe("Until the answer was read, or the attempt had failed."),
    phases: z.object({
      dnsMs: openingMs,
      connectMs: openingMs,
      tlsMs: openingMs,
      firstByteMs: z
        .int()
        .nullable()
        .describe("From the start to the status line; null when no answer came."),
    }),
    httpStatus: z.int().nullable().describe("Null when no answer came."),
    error: deliveryError,
    excerpt: z.string().nullable().describe("The beginning of the answer's body."),
  }),
);

const delivery = named(
  "Delivery",
  z.object({
    deliveryId: text("The delivery's id."),
    webhookId: text("The webhook's id."),
    eventId: text("The same as `webhook-id` of its attempts."),
    event: text("What it tells."),
    transactionId: text("The transaction that it tells of."),
    status: z
      .enum(["pending", "delivered", "abandoned", "dropped"])
      .describe("`dropped`: the webhook was deleted or disabled before it was due."),
    createdAt: time("When what it tells of happened."),
    attempts: z.array(attempt).describe("Those that have ended, in their order."),
  }),
) satisfies z.ZodType<DeliveryBody>;

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

const deliveries = named("DeliveryPage", pageOf(delivery)) satisfies z.ZodType<Page<DeliveryBody>>;

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
    schema: delivery,
    examples: { pending: { ...EXAMPLE_DELIVERY, status: "pending" } },
  },
  errors: ["VALIDATION_ERROR", "WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND"],
  serve: ({ service, caller, path: { webhookId, deliveryId }, options }) =>
    service.redeliver(caller, { webhookId, deliveryId }, options),
});

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
