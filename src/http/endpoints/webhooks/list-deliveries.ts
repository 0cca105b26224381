/** GET /v1/webhooks/{webhookId}/deliveries. */
import type { z } from "zod";
import type { DeliveryBody } from "../../../payments/webhooks/delivery-body.ts";
import type { Page } from "../../../payments/page.ts";
import { pageQuery } from "../../../payments/requests.ts";
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { named } from "../../contract/named-schema.ts";
import { pageOf } from "../../contract/small-schemas.ts";
import { delivery, EXAMPLE_DELIVERY } from "./delivery-schemas.ts";

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
