/** Endpoints of events, as webhooks get them: all, and those of one transaction. */
// modules: webhooks
import { eventSchema } from "../../payments/webhooks/list-events.ts";
import { sampleNotice } from "../../payments/webhooks/test-webhook.ts";
import { EVENT_ID, SETTLED_AT, SETTLED_SECONDS, TRANSACTION_ID } from "../contract/examples.ts";
import { named, pageOf } from "../../payments/frame/body-schemas.ts";
import { eventsQuery } from "../../payments/webhooks/requests.ts";
import { endpoint, fresh } from "../contract/endpoint.ts";

const events = named("EventPage", pageOf(eventSchema));

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
