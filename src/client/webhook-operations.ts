/** The operations of the client on webhooks, deliveries and events, by operationId. */
// modules: webhooks

export const webhookOperations = {
  listTransactionEvents: {
    method: "GET",
    path: "/v1/transactions/{transactionId}/events",
    sends: "query",
    reads: "pages",
    id: "eventId",
  },
  listEvents: { method: "GET", path: "/v1/events", sends: "query", reads: "pages", id: "eventId" },
  registerWebhook: { method: "POST", path: "/v1/webhooks", sends: "body", reads: "object" },
  listWebhooks: { method: "GET", path: "/v1/webhooks", sends: "nothing", reads: "object" },
  getWebhook: { method: "GET", path: "/v1/webhooks/{webhookId}", sends: "nothing", reads: "object" },
  updateWebhook: { method: "PUT", path: "/v1/webhooks/{webhookId}", sends: "body", reads: "object" },
  deleteWebhook: { method: "DELETE", path: "/v1/webhooks/{webhookId}", sends: "nothing", reads: "object" },
  testWebhook: { method: "POST", path: "/v1/webhooks/{webhookId}/test", sends: "body", reads: "object" },
  listDeliveries: {
    method: "GET",
    path: "/v1/webhooks/{webhookId}/deliveries",
    sends: "query",
    reads: "pages",
    id: "deliveryId",
  },
  redeliver: {
    method: "POST",
    path: "/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver",
    sends: "nothing",
    reads: "object",
  },
  recoverWebhook: {
    method: "POST",
    path: "/v1/webhooks/{webhookId}/recover",
    sends: "body",
    reads: "object",
  },
} as const;
