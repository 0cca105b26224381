/** Breaks of who is let in, and of what strangers and receivers may do. */
import type { Break } from "../break.ts";

const API_KEYS = "src/payments/accounts/api-keys.ts";

export const CONTRACT_BREAKS: readonly Break[] = [
  {
    property: "the secret of a key is compared",
    file: API_KEYS,
    text: 'timingSafeEqual(Buffer.from(secretHash, "hex"), Buffer.from(found.key.secretHash, "hex"));',
    replacement: "timingSafeEqual(Buffer.alloc(1), Buffer.alloc(1));",
    tests: ["payments/accounts.test.ts"],
  },
  {
    property: "a made-up key is told without a look-up",
    file: "src/payments/accounts/key-text.ts",
    text: 'standingOf(key, checksums) : "wrong";',
    replacement: 'standingOf(key, checksums) : "nothing";',
    tests: ["http/limits.test.ts"],
  },
  {
    property: "a key that is revoked while it is rotated gets no successor",
    file: API_KEYS,
    text: "set: { expiresAt: previousUntil }, expectedVersion }",
    replacement: "set: { expiresAt: previousUntil } }",
    tests: ["payments/accounts.test.ts"],
  },
  {
    property: "headers of receivers are cut",
    file: "src/payments/webhooks/sending/receiver-connection.ts",
    text: "maxHeaderSize: MAX_HEADER_BYTES,",
    replacement: "maxHeaderSize: 2 ** 30,",
    tests: ["payments/webhooks/hostile-receiver.test.ts"],
  },
  {
    property: "a quote is shown to its own account only",
    file: "src/payments/quotes/quotes.ts",
    text: "if (quote === null || quote.accountId !== accountId) {",
    replacement: "if (quote === null) {",
    tests: ["http/strangers.test.ts"],
  },
  {
    property: "a webhook belongs to its own account only",
    file: "src/payments/webhooks/webhook-fields.ts",
    text: "webhook === null || webhook.accountId !== accountId || webhook.deletedAt !== null",
    replacement: "webhook === null || webhook.deletedAt !== null",
    tests: ["http/strangers.test.ts"],
  },
  {
    property: "a transaction is shown to its own account only",
    file: "src/payments/transactions/read-transaction.ts",
    text: "if (view === null || view.transaction.accountId !== accountId) {",
    replacement: "if (view === null) {",
    tests: ["http/strangers.test.ts"],
  },
  {
    property: "a transaction is cancelled by its own account only",
    file: "src/payments/transactions/cancel-transaction.ts",
    text: "if (found.transaction.accountId !== caller.accountId) {",
    replacement: 'if (found.transaction.accountId === "") {',
    tests: ["http/strangers.test.ts"],
  },
];
