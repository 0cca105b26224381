/** What the OpenAPI document says of each endpoint besides its path: what it is for, its bodies, and what it refuses. */
import type { z } from "zod";
import type { ErrorCode } from "../../errors.ts";
import {
  eventsQuery,
  pageQuery,
  quoteRequest,
  recovery,
  transactionQuery,
  transactionRequest,
  transactionsQuery,
  webhookRequest,
  webhookTest,
  webhookUpdate,
} from "../../payments/requests.ts";
import type { ANSWERS } from "./answers.ts";

/** One endpoint in words. */
export interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly request?: z.ZodType;
  /** The parameters of the query. */
  readonly query?: z.ZodObject;
  readonly status: 200 | 201;
  readonly answer: keyof typeof ANSWERS;
  /** Refusals of its own; those that any endpoint may answer with are not repeated. */
  readonly refusals: readonly ErrorCode[];
}

/** What any request may be answered with. */
export const COMMON_REFUSALS: readonly ErrorCode[] = [
  ...(["INVALID_API_KEY", "INSUFFICIENT_SCOPE", "RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR"] as const),
];
/** What a request with a body may be answered with. */
export const BODY_REFUSALS: readonly ErrorCode[] = [
  ...(["VALIDATION_ERROR", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const),
];
/** What a request with a query may be answered with. */
export const QUERY_REFUSALS: readonly ErrorCode[] = ["VALIDATION_ERROR"];
/** What any POST may be answered with besides. */
export const POST_REFUSALS: readonly ErrorCode[] = ["IDEMPOTENCY_KEY_REUSED"];

const CREATE = `In wallet mode the caller supplies the signed transaction of the quote, which is broadcast at once.

In private mode it supplies none: the answer names a one-time deposit address, and what is deposited there is paid on, in 30 to 120 seconds once it is final. It is custodial while it lasts: the operator holds the money, knows the link between sender and recipients, and keeps it; amounts and the one hop are public. It is not anonymous. Never deposit from an exchange: every refund goes to \`sender\`, never to the address that paid.

A \`send\` has one recipient. A \`payroll\` has two or more, each with its own \`status\` in the end: those who cannot be paid do not keep the others from it, the transaction ends as \`failed\` with the reason PARTIAL_PAYOUT, and the rest is refunded. A \`swap\` pays its \`sender\`; a private one is priced again when it is signed, and is refunded below the quote's \`minOutputAmount\`.

A body with an unknown field is refused. Only a 201 uses a quote up.`;

/** By method and path, as the table of routes has them. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  "GET /v1/tokens": { summary: "The assets that can be paid.", status: 200, answer: "tokens", refusals: [] },
  "GET /v1/balances/{id}": {
    summary: "What an address holds, at commitment confirmed.",
    ...{ status: 200, answer: "balances", refusals: ["INVALID_ADDRESS", "UPSTREAM_ERROR"] },
  },
  "POST /v1/quotes": {
    summary: "Prices a payment or a swap.",
    description:
      "With `sender`, and unless it is a swap `recipients`, a quote in wallet mode carries the transaction to sign. A private quote without `recipients` is priced for one.",
    request: quoteRequest,
    ...{ status: 201, answer: "quote" },
    refusals: [
      ...(["INVALID_RECIPIENT", "INVALID_ASSET", "AMOUNT_TOO_SMALL", "INSUFFICIENT_LIQUIDITY"] as const),
      ...(["AMOUNT_TOO_LARGE", "ROUTING_UNAVAILABLE", "UPSTREAM_ERROR"] as const),
      ...(["ROUTING_UNAVAILABLE", "UPSTREAM_ERROR"] as const),
      ...(["ACCOUNT_SUSPENDED", "SERVICE_PAUSED", "AMOUNT_TOO_LARGE"] as const),
    ],
  },
  "GET /v1/quotes/{id}": {
    summary: "A quote as it stands, without the transaction to sign.",
    ...{ status: 200, answer: "shownQuote", refusals: ["QUOTE_NOT_FOUND"] },
  },
  "POST /v1/quotes/{id}/refresh": {
    summary: "Prices the same once more, under the same id.",
    description: "Until ten minutes after the quote's expiry, and never after its use.",
    ...{ status: 200, answer: "refreshedQuote" },
    refusals: [
      ...(["QUOTE_NOT_FOUND", "INVALID_QUOTE", "INSUFFICIENT_LIQUIDITY", "ROUTING_UNAVAILABLE"] as const),
      ...(["AMOUNT_TOO_SMALL", "AMOUNT_TOO_LARGE", "UPSTREAM_ERROR"] as const),
      ...(["AMOUNT_TOO_SMALL", "UPSTREAM_ERROR", "IDEMPOTENCY_KEY_REUSED"] as const),
      ...(["ACCOUNT_SUSPENDED", "SERVICE_PAUSED", "AMOUNT_TOO_LARGE"] as const),
    ],
  },
  "POST /v1/transactions": {
    summary: "Takes a send, a payroll or a swap.",
    description: CREATE,
    request: transactionRequest,
    ...{ status: 201, answer: "createdTransaction" },
    refusals: [
      ...(["INVALID_RECIPIENT", "INVALID_QUOTE", "INVALID_SIGNATURE", "ROUTING_UNAVAILABLE"] as const),
      ...([
        "INSUFFICIENT_BALANCE",
        "TRANSACTION_WOULD_FAIL",
        "AMOUNT_TOO_SMALL",
        "AMOUNT_TOO_LARGE",
      ] as const),
      ...(["INSUFFICIENT_LIQUIDITY", "DUPLICATE_TRANSACTION", "UPSTREAM_ERROR"] as const),
      ...(["ACCOUNT_SUSPENDED", "SERVICE_PAUSED", "AMOUNT_TOO_LARGE", "VOLUME_LIMIT_EXCEEDED"] as const),
    ],
  },
  "GET /v1/transactions": {
    summary: "The account's transactions, newest first.",
    description: "Those that fit every filter that is given; `recipient` is the address of any recipient.",
    query: transactionsQuery,
    ...{ status: 200, answer: "transactions", refusals: [] },
  },
  "GET /v1/transactions/{id}": {
    summary: "A transaction as it stands.",
    description:
      "With `wait`, so many whole seconds, it is answered when the status changes, or after that time; at once when it is final.",
    query: transactionQuery,
    ...{ status: 200, answer: "transaction", refusals: ["TRANSACTION_NOT_FOUND"] },
  },
  "DELETE /v1/transactions/{id}": {
    summary: "Cancels a transaction that is pending.",
    description:
      "In wallet mode until its broadcast begins. In private mode until a deposit of the expected asset is seen, for which the chain is asked anew: when it cannot be, nothing is changed.",
    ...{ status: 200, answer: "cancelled" },
    refusals: [
      ...(["TRANSACTION_NOT_FOUND", "UNAUTHORIZED", "CANNOT_CANCEL", "ALREADY_PROCESSED"] as const),
      ...(["UPSTREAM_ERROR"] as const),
    ],
  },
  "GET /v1/transactions/{id}/events": {
    summary: "What webhooks were told of a transaction, newest first.",
    query: eventsQuery,
    ...{ status: 200, answer: "events", refusals: ["TRANSACTION_NOT_FOUND"] },
  },
  "GET /v1/events": {
    summary: "What webhooks were told, newest first.",
    description:
      "For owners who lost deliveries. The list grows at its new end only: read with `order=asc` and `startingAfter` the last id, nothing is missed.",
    query: eventsQuery,
    ...{ status: 200, answer: "events", refusals: [] },
  },
  "POST /v1/webhooks": {
    summary: "Registers a webhook.",
    request: webhookRequest,
    ...{ status: 201, answer: "webhook" },
    refusals: ["INVALID_URL", "INVALID_EVENTS", "URL_UNREACHABLE", "WEBHOOK_LIMIT_EXCEEDED"],
  },
  "GET /v1/webhooks": { summary: "All webhooks.", status: 200, answer: "webhooks", refusals: [] },
  "GET /v1/webhooks/{id}": {
    summary: "A webhook.",
    ...{ status: 200, answer: "wholeWebhook", refusals: ["WEBHOOK_NOT_FOUND"] },
  },
  "PUT /v1/webhooks/{id}": {
    summary: "Changes a webhook.",
    description:
      "What is left out stays as it is. A `url` counts as a registration. A new `secret` signs at once: `X-Service-Signature` is made with it, and `webhook-signature` for 24 hours with the one before, too; null ends signing. While `enabled` is false nothing is delivered, and what becomes due is dropped.",
    request: webhookUpdate,
    ...{ status: 200, answer: "wholeWebhook" },
    refusals: ["WEBHOOK_NOT_FOUND", "INVALID_URL", "INVALID_EVENTS", "URL_UNREACHABLE"],
  },
  "DELETE /v1/webhooks/{id}": {
    summary: "Deletes a webhook: it gets nothing more.",
    ...{ status: 200, answer: "deletedWebhook", refusals: ["WEBHOOK_NOT_FOUND"] },
  },
  "POST /v1/webhooks/{id}/test": {
    summary: "Sends a sample notice to a webhook, once.",
    description:
      "Signed like a real one, with a `transactionId` that begins with `tx_test_`. It is answered when the attempt has ended, after ten seconds at most, and is never repeated.",
    request: webhookTest,
    ...{ status: 200, answer: "testedWebhook", refusals: ["WEBHOOK_NOT_FOUND", "INVALID_EVENTS"] },
  },
  "GET /v1/webhooks/{id}/deliveries": {
    summary: "A webhook's deliveries with their attempts, newest first.",
    query: pageQuery,
    ...{ status: 200, answer: "deliveries", refusals: ["WEBHOOK_NOT_FOUND"] },
  },
  "POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver": {
    summary: "Sends a notice once more.",
    description:
      "The same id and the same bytes, with six attempts of its own. Of a delivery that waits for its next attempt it ends the pause.",
    ...{ status: 200, answer: "delivery" },
    refusals: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND", "VALIDATION_ERROR"],
  },
  "POST /v1/webhooks/{id}/recover": {
    summary: "Sends once more what happened since then and was not delivered.",
    description:
      "Oldest first, at most 250 at a time: while `hasMore` is true the same request begins the next. What is still being tried is left alone.",
    request: recovery,
    ...{ status: 200, answer: "recovered", refusals: ["WEBHOOK_NOT_FOUND"] },
  },
  "GET /v1/account": {
    summary: "The account behind the key: what it may do, and what is left of its limits.",
    ...{ status: 200, answer: "account", refusals: [] },
  },
  "GET /v1/openapi.json": { summary: "This document.", status: 200, answer: "document", refusals: [] },
};
