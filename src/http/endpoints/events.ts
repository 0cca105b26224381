/** Endpoints of events, as webhooks get them: all, and those of one transaction. */
import { z } from "zod";
import type { EventBody } from "../../payments/webhooks/list-events.ts";
import type { Page } from "../../payments/page.ts";
import { sampleNotice } from "../../payments/webhooks/test-webhook.ts";
import { EVENT_ID, SETTLED_AT, SETTLED_SECONDS, TRANSACTION_ID } from "../contract/examples.ts";
import { named, amount, pageOf, text, time } from "../contract/schemas.ts";
import { eventsQuery, noticeEvent } from "../../payments/requests.ts";
import { endpoint, fresh } from "../contract/endpoint.ts";

export const eventName = named("EventName", noticeEvent) satisfies z.ZodType<EventBody["event"]>;

const recipient = named(
  "NoticeRecipient",
  z.object({
    address: text("The owner who is paid."),
    amount: amount("Its share, in whole units of the asset."),
    status: z
      .enum(["paid", "unpaid"])
      .describe("Private payroll only, once it is over: whether this recipient was paid.")
      .exactOptional(),
  }),
);

/** The data of a notice about its transaction; unknown values are null. */
export const noticeData = named(
  "NoticeData",
  z.object({
    transactionId: text("The transaction's id."),
    status: z.enum(["pending", "confirmed", "processing", "completed", "failed", "cancelled"]),
    mode: z.enum(["wallet", "private"]),
    type: z.enum(["send", "swap", "payroll"]),
    signature: z.string().nullable().describe("On the chain; null while unknown."),
    blockTime: z.int().nullable().describe("Unix seconds; null while unknown."),
    fee: amount("Null while unknown.").nullable(),
    recipients: z.array(recipient),
    reason: z.string().nullable().describe("Why it failed; null otherwise."),
    reference: z.string().nullable().describe("As it was given."),
  }),
) satisfies z.ZodType<EventBody["data"]>;

const event = named(
  "Event",
  z.object({
    eventId: text("The same as `webhook-id` of its deliveries."),
    event: eventName,
    transactionId: text("The transaction's id."),
    createdAt: time("When it happened."),
    data: noticeData.describe("As webhooks have it."),
  }),
) satisfies z.ZodType<EventBody>;

const events = named("EventPage", pageOf(event)) satisfies z.ZodType<Page<EventBody>>;

/** An example of `transaction.completed`. */
const EXAMPLE_NOTICE = sampleNotice("transaction.completed", TRANSACTION_ID, SETTLED_SECONDS * 1_000);

const EXAMPLE_EVENTS = {
  data: [
    {
      eventId: EVENT_ID,
      event: EXAMPLE_NOTICE.event,
      transactionId: TRANSACTION_ID,
      createdAt: SETTLED_AT,
      data: EXAMPLE_NOTICE.data,
    },
  ],
  hasMore: false,
};

export const listEvents = endpoint({
  method: "GET",
  path: "/v1/events",
  operationId: "listEvents",
  tag: "Events",
  scope: "transactions:read",
  limit: "reads",
  summary: "What webhooks were told, newest first.",
  description:
    "For owners who lost deliveries. The list grows at its new end only: read with `order=asc` and `startingAfter` the last id, nothing is missed.",
  query: eventsQuery,
  answer: { status: 200, schema: events, examples: { page: EXAMPLE_EVENTS } },
  errors: [],
  serve: async ({ service, caller, query }) => fresh(await service.events(caller, query)),
});

export const listTransactionEvents = endpoint({
  method: "GET",
  path: "/v1/transactions/{transactionId}/events",
  operationId: "listTransactionEvents",
  tag: "Events",
  scope: "transactions:read",
  limit: "reads",
  summary: "What webhooks were told of a transaction, newest first.",
  query: eventsQuery,
  answer: { status: 200, schema: events, examples: { page: EXAMPLE_EVENTS } },
  errors: ["TRANSACTION_NOT_FOUND"],
  serve: async ({ service, caller, path: { transactionId }, query }) =>
    fresh(await service.transactionEvents(caller, transactionId, query)),
});
