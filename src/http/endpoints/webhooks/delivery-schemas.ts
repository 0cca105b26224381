/** A delivery of a notice to a webhook, with its attempts. */
import { z } from "zod";
import type { DeliveryBody } from "../../../payments/webhooks/delivery-body.ts";
import {
  CREATED_AT,
  DELIVERY_ID,
  EVENT_ID,
  SETTLED_AT,
  TRANSACTION_ID,
  WEBHOOK_ID,
} from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { text, time } from "../../contract/small-schemas.ts";

/** The error of a delivery attempt. */
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

/** A delivery. */
export const delivery = named(
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

/** A delivery that succeeded at once. */
export const EXAMPLE_DELIVERY = {
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
