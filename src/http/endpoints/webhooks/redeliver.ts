/** POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver. */
import { endpoint } from "../../contract/endpoint.ts";
import { delivery, EXAMPLE_DELIVERY } from "./delivery-schemas.ts";

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
