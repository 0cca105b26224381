/** GET /v1/transactions/{transactionId}/events. */
import { eventsQuery } from "../../../payments/requests.ts";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { events, EXAMPLE_EVENTS } from "./event-schemas.ts";

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
