/** Schemas of requests about webhooks and events. */
import { z } from "zod";
import { NOTICE_EVENTS } from "../frame/notices/notice-body.ts";
import { isReadAlike } from "../frame/notices/secret-key.ts";
import { MAX_NAME, page, time } from "../frame/request-fields.ts";

// Too long to be guessed, no longer than a header, and of characters that every verifier turns into the same bytes.
const secret = z
  .string()
  .min(16)
  .max(256)
  .regex(/^[\x20-\x7e]*$/, { error: "expected printable ASCII characters and spaces" })
  .refine(isReadAlike, { error: "expected base64 of at least 16 bytes, padded, behind whsec_" })
  .describe(
    "Notices are signed with it. It is never answered. Printable ASCII; behind `whsec_` base64 of at least 16 bytes.",
  );

/** The notices that a webhook may get. */
export const noticeEvent = z.enum(NOTICE_EVENTS);

/** POST /v1/webhooks. */
export const webhookRequest = z.strictObject({
  // Judged by their own codes: INVALID_URL and INVALID_EVENTS say more than a shape could.
  url: z.string().describe("Where notices are sent: HTTPS, a public address."),
  events: z
    .array(z.string().max(MAX_NAME))
    .max(100)
    .describe(`One or more: ${NOTICE_EVENTS.join(", ")}.`),
  secret: secret.optional(),
});

/** PUT /v1/webhooks/{webhookId}: absent fields stay unchanged. */
export const webhookUpdate = z
  .strictObject({
    url: webhookRequest.shape.url.optional(),
    events: webhookRequest.shape.events.optional(),
    secret: secret.nullable().optional().describe("A new one signs at once; null ends signing."),
    enabled: z.boolean().optional().describe("While it is false nothing is delivered."),
  })
  .refine((fields) => Object.values(fields).some((value) => value !== undefined), {
    error: "expected url, events, secret or enabled",
  });

/** POST /v1/webhooks/{webhookId}/test. */
export const webhookTest = z.strictObject({
  event: webhookRequest.shape.events.element.describe("An event as webhooks are registered for."),
});

/** GET /v1/events, and the events of one transaction. */
export const eventsQuery = z.strictObject({
  order: z.enum(["asc", "desc"]).default("desc").describe("`asc`: oldest first."),
  ...page,
});

/** POST /v1/webhooks/{webhookId}/recover. */
export const recovery = z.strictObject({
  since: time.describe("What happened from this time on, ISO 8601 in UTC."),
});

/** A request as the caller sends it, before its checks. @interface */
export type EventsQuery = z.input<typeof eventsQuery>;
/** A request as the caller sends it, before its checks. @interface */
export type RecoveryRequest = z.input<typeof recovery>;
/** A request as the caller sends it, before its checks. @interface */
export type WebhookRequest = z.input<typeof webhookRequest>;
/** A request as the caller sends it, before its checks. @interface */
export type WebhookUpdateRequest = z.input<typeof webhookUpdate>;
/** A request as the caller sends it, before its checks. @interface */
export type WebhookTestRequest = z.input<typeof webhookTest>;
