/** Breaks of prices, quotes and wallet mode. */
import type { Break } from "../break.ts";

export const QUOTE_BREAKS: readonly Break[] = [
  {
    property: "a quote is closed before its caller is told that it has expired",
    file: "src/payments/transactions/create-transaction.ts",
    text: 'refusal.details.reason === "expired"',
    replacement: 'refusal.details.reason === "used"',
    tests: ["payments/races/quotes.test.ts"],
  },
  {
    property: "refresh ends ten minutes after the quote has expired",
    file: "src/payments/quotes/quotes.ts",
    text: "REFRESH_GRACE_MS = 10 * 60_000",
    replacement: "REFRESH_GRACE_MS = 11 * 60_000",
    tests: ["payments/swap/swap-promises.test.ts"],
  },
  {
    property: "an expired quote is refused",
    file: "src/payments/quotes/check-quote.ts",
    text: "return expiresAt <= now",
    replacement: "return expiresAt < now",
    tests: ["payments/wallet/wallet-mode.test.ts", "payments/refusals.test.ts"],
  },
  {
    property: "a quote is taken only where the commit finds it unexpired",
    file: "src/payments/quotes/checked-request.ts",
    text: "expectedVersion: version, unexpired }",
    replacement: "expectedVersion: version }",
    tests: ["payments/expiring-quotes.test.ts"],
  },
  {
    property: "quotes go by the clock of the database",
    file: "src/payments/storage-time.ts",
    text: "return (await storage.time?.(now)) ?? now;",
    replacement: "return now;",
    tests: ["payments/expiring-quotes.test.ts"],
  },
  {
    property: "a commit judges what is unexpired by the clock of the database",
    file: "storage/postgres/prepare-writes.ts",
    text: "this.#clock.now(unexpired.now)",
    replacement: "unexpired.now",
    tests: ["payments/expiring-quotes.test.ts"],
  },
  {
    property: "a quote that was made for a sender is bound to it",
    file: "src/payments/quotes/check-quote.ts",
    text: "isBound && quote.sender !== declared.sender",
    replacement: "mustName && quote.sender !== declared.sender",
    tests: ["payments/wallet/wallet-mode.test.ts", "payments/refusals.test.ts"],
  },
  {
    property: "of the same bytes one wallet transaction is made",
    file: "src/payments/wallet/accept-transfer.ts",
    text: "await signed.refuseKnown(verified, declared.accountId);",
    replacement: "",
    tests: ["payments/wallet/answered-once.test.ts"],
  },
  {
    property: "one quote is used by one wallet transaction",
    file: "src/payments/wallet/accept-signed.ts",
    text: "usedQuote(request.quote, { usedBy: transaction.id, now: createdAt }),",
    replacement: "",
    tests: ["payments/wallet/answered-once.test.ts"],
  },
  {
    property: "an error at confirmed may still vanish",
    file: "src/payments/wallet/signature-news.ts",
    text: 'status.commitment === "confirmed" && status.error === null',
    replacement: 'status.commitment === "confirmed"',
    tests: ["payments/wallet/faults.test.ts"],
  },
  {
    property: "only what is unprovable is written off",
    file: "src/payments/wallet/settle-transaction.ts",
    text: 'if (fate !== "unprovable") refuse(WHY_NOT[fate]);',
    replacement: "",
    tests: ["payments/wallet/evidence.test.ts"],
  },
];
