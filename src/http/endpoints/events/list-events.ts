/** GET /v1/events. */
import { eventsQuery } from "../../../payments/requests.ts";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { events, EXAMPLE_EVENTS } from "./event-schemas.ts";

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
