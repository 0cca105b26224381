/** Examples of the API's errors: a body for each code and for each reason, with the remedy. */
import { docUrlOf } from "../docs/doc-url.ts";
import type { ErrorCode, ErrorDetails } from "../../errors/errors.ts";
import { messageOf, remediesOf, type RemediedError } from "../../errors/remedies.ts";
import {
  DELIVERY_ID,
  EXPIRES_AT,
  QUOTE_ID,
  RECIPIENT,
  REQUEST_ID,
  TRANSACTION_ID,
  USDC_MINT,
  WEBHOOK_ID,
} from "../contract/examples.ts";
import { reference, type Json } from "./schemas.ts";

const HOOK = "http://shop.example/hooks";
const RETRY = { retryAfter: 2 };

/** Details of each code, without the reason. */
const DETAILS: { readonly [Code in ErrorCode]: Omit<ErrorDetails[Code], "reason"> } = {
  VALIDATION_ERROR: { fields: [{ path: "recipients.0.amount", message: 'expected a string, such as "1"' }] },
  INVALID_RECIPIENT: { index: 0, address: RECIPIENT },
  INVALID_SIGNATURE: {},
  INVALID_URL: { url: HOOK },
  INVALID_EVENTS: { invalid: ["transaction.done"], allowed: ["transaction.completed"] },
  INVALID_ADDRESS: { address: "0x00" },
  INVALID_ASSET: { asset: "EURX" },
  INVALID_API_KEY: {},
  UNAUTHORIZED: { transactionId: TRANSACTION_ID },
  INSUFFICIENT_SCOPE: { required: "transactions:write" },
  ACCOUNT_SUSPENDED: {},
  TRANSACTION_NOT_FOUND: { transactionId: TRANSACTION_ID },
  QUOTE_NOT_FOUND: { quoteId: QUOTE_ID },
  WEBHOOK_NOT_FOUND: { webhookId: WEBHOOK_ID },
  DELIVERY_NOT_FOUND: { deliveryId: DELIVERY_ID },
  NOT_FOUND: { path: "/v1/transfers" },
  METHOD_NOT_ALLOWED: { method: "DELETE", allowed: ["GET", "HEAD"] },
  CANNOT_CANCEL: {
    transactionId: TRANSACTION_ID,
    currentStatus: "completed",
    allowedStatuses: ["pending"],
  },
  ALREADY_PROCESSED: { transactionId: TRANSACTION_ID, currentStatus: "processing" },
  DUPLICATE_TRANSACTION: { transactionId: TRANSACTION_ID },
  WEBHOOK_LIMIT_EXCEEDED: { limit: 5, current: 5, tier: "free" },
  PAYLOAD_TOO_LARGE: { limitBytes: 65_536 },
  UNSUPPORTED_MEDIA_TYPE: { expected: "application/json" },
  INVALID_QUOTE: { quoteId: QUOTE_ID, expiresAt: EXPIRES_AT },
  INSUFFICIENT_BALANCE: {
    asset: "USDC",
    mint: USDC_MINT,
    required: "25",
    available: "20.5",
    shortfall: "4.5",
    component: "amount",
  },
  TRANSACTION_WOULD_FAIL: {},
  URL_UNREACHABLE: { url: HOOK.replace("http:", "https:") },
  AMOUNT_TOO_SMALL: { minimum: "0.01", index: 0 },
  AMOUNT_TOO_LARGE: { maximum: "1000000" },
  INSUFFICIENT_LIQUIDITY: { available: "1200" },
  IDEMPOTENCY_KEY_REUSED: {},
  VOLUME_LIMIT_EXCEEDED: { asset: "USDC", limit: "10000", used: "9990", windowSeconds: 86_400 },
  RATE_LIMIT_EXCEEDED: { scope: "reads", limit: 120, windowSeconds: 60, tier: "free", ...RETRY },
  INTERNAL_ERROR: {},
  UPSTREAM_ERROR: RETRY,
  SERVICE_PAUSED: { scope: "wallet", ...RETRY },
  ROUTING_UNAVAILABLE: {},
  STORAGE_UNAVAILABLE: RETRY,
  OUTCOME_UNKNOWN: RETRY,
};

/** References to the examples of these codes, by name, such as `INVALID_QUOTE.expired`. */
export function examplesOf(codes: readonly ErrorCode[]): Json {
  const names = codes.flatMap(remediesOf).map(nameOf);
  return Object.fromEntries(names.map((name) => [name, reference("examples", name)]));
}

/** The examples that `examplesOf` refers to; each one's summary tells the remedy. */
export function exampleComponents(codes: readonly ErrorCode[]): Json {
  const examples = codes.flatMap(remediesOf).map((error) => [nameOf(error), exampleOf(error)] as const);
  return Object.fromEntries(examples);
}

function nameOf({ code, reason }: RemediedError): string {
  return reason === null ? code : `${code}.${reason}`;
}

function exampleOf(error: RemediedError): Json {
  const { code, reason, remedy } = error;
  const details = {
    ...DETAILS[code],
    ...(reason !== null && { reason }),
    requestId: REQUEST_ID,
    docUrl: docUrlOf(code),
  };
  return {
    summary: `${nameOf(error)}: ${remedy}`,
    value: { error: { code, message: messageOf(code, details), details } },
  };
}
