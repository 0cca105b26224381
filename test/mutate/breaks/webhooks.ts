/** Breaks of what webhooks are told about money. */
import type { Break } from "../break.ts";

export const WEBHOOK_BREAKS: readonly Break[] = [
  {
    property: "a notice is serialised once",
    file: "src/payments/webhooks/announce.ts",
    text: "if (notice.body === null) {",
    replacement: "if (notice.body === null || notices.length > 1) {",
    tests: ["payments/private/notices.test.ts", "payments/webhooks/deliveries.test.ts"],
  },
  {
    property: "both notices of one commit have their own status",
    file: "src/payments/notice-writes.ts",
    text: 'event === "transaction.confirmed" ? "confirmed" : shown.status',
    replacement: "shown.status",
    tests: ["payments/private/notices.test.ts", "payments/wallet/send.test.ts"],
  },
  {
    property: "notices of one transaction are delivered in order",
    file: "src/payments/webhooks/announce.ts",
    text: "const follows = previous.get(webhook.id) ?? null;",
    replacement: "const follows = null;",
    tests: ["payments/webhooks/deliveries.test.ts"],
  },
  {
    property: "a webhook hears nothing from before it was registered",
    file: "src/payments/webhooks/announce.ts",
    text: "createdAt <= notice.createdAt",
    replacement: "createdAt > 0",
    tests: ["payments/webhooks/deliveries.test.ts"],
  },
  {
    property: "the webhooks of an account share places",
    file: "src/payments/webhooks/webhook-delivery-workflow.ts",
    text: "group: accountId,",
    replacement: "group: webhookId,",
    tests: ["payments/webhooks/fair-deliveries.test.ts"],
  },
  {
    property: "a delivery has six attempts and no more",
    file: "machines/webhook-delivery.ts",
    text: "context.attempts <= context.pausesMs.length",
    replacement: "context.attempts < context.pausesMs.length",
    tests: ["machines/webhook-delivery.test.ts"],
  },
  {
    property: "a failed payroll says who was paid",
    file: "src/payments/webhooks/announce.ts",
    text: 'status: hasEnded ? share.status : "unpaid"',
    replacement: 'status: "unpaid"',
    tests: ["payments/private/notices.test.ts"],
  },
];
