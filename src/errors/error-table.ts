/**
 * Every error of the API, declared once: HTTP status, message, fields of the details, and the header that repeats a
 * detail.
 */
import { z } from "zod";
import type { Immutable } from "../core/immutable.ts";
import { SIGNATURE_FAULTS } from "../ledger/ledger.ts";

/** A header that HTTP has for something that the details say. */
interface ErrorHeader<Details> {
  readonly name: "Allow" | "Retry-After" | "WWW-Authenticate";
  /** Null where these details have no such header. */
  valueOf(details: Details): string | null;
}

/** An error code. */
export interface ErrorKind<Details extends z.ZodObject = z.ZodObject> {
  readonly status: number;
  /** For people, and always the same: it never holds anything of the request. An error with a reason has the reason's remedy behind it. */
  readonly message: string;
  /** The details, `requestId` aside, which the HTTP layer adds to each. */
  readonly details: Details;
  readonly header?: ErrorHeader<Immutable<z.output<Details>>>;
}

const text = z.string();
const whole = z.int();

/** Details with nothing but the `requestId` of every error. */
const none = z.object({});

const retryAfter = whole.describe("Whole seconds, rounded up; the same as Retry-After.");
const RETRY_AFTER: ErrorHeader<{ readonly retryAfter?: number }> = {
  name: "Retry-After",
  valueOf: (details) => (details.retryAfter === undefined ? null : String(details.retryAfter)),
};
const ALLOW: ErrorHeader<{ readonly allowed: readonly string[] }> = {
  name: "Allow",
  valueOf: ({ allowed }) => allowed.join(", "),
};
const CHALLENGE: ErrorHeader<object> = { name: "WWW-Authenticate", valueOf: () => "Bearer" };

const fieldProblem = z.object({
  path: text.describe("The field, such as `recipients.0.amount`; empty for the body as a whole."),
  message: text,
  reason: z
    .enum(["not_served"])
    .describe("`not_served`: the host's own check refuses this address; absent for a wrong field.")
    .exactOptional(),
});

/** Error codes, in order of their statuses. A code is permanent: it is never renamed or reused. */
export const ERRORS = {
  VALIDATION_ERROR: {
    status: 400,
    message: "The request has fields that cannot be accepted; details.fields names each.",
    details: z.object({ fields: z.array(fieldProblem).describe("At most 20.") }),
  },
  INVALID_RECIPIENT: {
    status: 400,
    message: "A recipient's address cannot be paid.",
    details: z.object({
      index: whole.describe("Of the recipient in `recipients`, from 0."),
      address: text,
      reason: z.enum([
        "not_base58",
        "wrong_length",
        "duplicate",
        "token_account",
        "program",
        "mint",
        "off_curve",
        "not_sender",
        "own_address",
        "not_served",
      ]),
    }),
  },
  INVALID_SIGNATURE: {
    status: 400,
    message: "The signed transaction cannot be accepted.",
    details: z.object({ reason: z.enum(SIGNATURE_FAULTS) }),
  },
  INVALID_URL: {
    status: 400,
    message: "The webhook URL is not a usable HTTPS URL.",
    details: z.object({
      url: text,
      reason: z.enum([
        "unparseable",
        "not_https",
        "credentials",
        "private_address",
        "too_long",
        "bad_host",
        "bad_port",
      ]),
    }),
  },
  INVALID_EVENTS: {
    status: 400,
    message: "The list of events is empty or names unknown events.",
    details: z.object({ invalid: z.array(text), allowed: z.array(text) }),
  },
  INVALID_ADDRESS: {
    status: 400,
    message: "The address is not a base58 address of 32 bytes.",
    details: z.object({ address: text }),
  },
  INVALID_ASSET: {
    status: 400,
    message: "This service does not move the asset.",
    details: z.object({ asset: text }),
  },
  INVALID_API_KEY: {
    status: 401,
    message: "The API key is missing or not valid.",
    details: none,
    header: CHALLENGE,
  },
  UNAUTHORIZED: {
    status: 403,
    message: "This transaction belongs to another account.",
    details: z.object({ transactionId: text }),
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    message: "The API key does not have the scope that this request needs.",
    details: z.object({ required: text }),
  },
  ACCOUNT_SUSPENDED: {
    status: 403,
    message: "The account is suspended: nothing new is taken.",
    details: none,
  },
  TRANSACTION_NOT_FOUND: {
    status: 404,
    message: "There is no such transaction.",
    details: z.object({ transactionId: text }),
  },
  QUOTE_NOT_FOUND: {
    status: 404,
    message: "There is no such quote.",
    details: z.object({ quoteId: text }),
  },
  WEBHOOK_NOT_FOUND: {
    status: 404,
    message: "There is no such webhook.",
    details: z.object({ webhookId: text }),
  },
  DELIVERY_NOT_FOUND: {
    status: 404,
    message: "There is no such delivery.",
    details: z.object({ deliveryId: text }),
  },
  NOT_FOUND: {
    status: 404,
    message: "There is nothing at this path.",
    details: z.object({ path: text.describe("Its first 256 characters.") }),
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: "This path does not take this method.",
    details: z.object({ method: text, allowed: z.array(text) }),
    header: ALLOW,
  },
  CANNOT_CANCEL: {
    status: 409,
    message: "The transaction's status does not allow cancelling it.",
    details: z.object({ transactionId: text, currentStatus: text, allowedStatuses: z.array(text) }),
  },
  ALREADY_PROCESSED: {
    status: 409,
    message: "The transaction has passed the point of no return.",
    details: z.object({
      transactionId: text,
      currentStatus: text,
      reason: z
        .enum(["broadcast", "deposit_detected"])
        .describe("Wallet mode: the bytes have left. Private mode: a deposit was seen, at any commitment."),
      signature: text.exactOptional(),
    }),
  },
  DUPLICATE_TRANSACTION: {
    status: 409,
    message: "This signed transaction was submitted before.",
    details: z.object({
      transactionId: text.describe("Told only to the account that owns it.").exactOptional(),
    }),
  },
  WEBHOOK_LIMIT_EXCEEDED: {
    status: 409,
    message: "The account has as many webhooks as its tier allows.",
    details: z.object({ limit: whole, current: whole, tier: text }),
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: "The request body is too large.",
    details: z.object({ limitBytes: whole.describe("In at most 8,192 chunks.") }),
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: "The request body must be application/json.",
    details: z.object({ expected: text }),
  },
  INVALID_QUOTE: {
    status: 422,
    message: "The quote cannot be used for this transaction.",
    details: z.object({
      quoteId: text,
      reason: z.enum([
        "not_found",
        "expired",
        "used",
        "price_moved",
        "mode_mismatch",
        "same_asset",
        "asset_mismatch",
        "amount_mismatch",
        "recipients_mismatch",
        "sender_mismatch",
      ]),
      expiresAt: text.exactOptional(),
    }),
  },
  INSUFFICIENT_BALANCE: {
    status: 422,
    message: "The sender does not have enough for this transaction.",
    details: z.object({
      asset: text,
      mint: text,
      required: text.describe("In whole units of the asset."),
      available: text.describe("In whole units of the asset."),
      shortfall: text.describe("In whole units of the asset."),
      component: z.enum(["amount", "fee", "rent"]).describe("What it does not suffice for."),
    }),
  },
  TRANSACTION_WOULD_FAIL: {
    status: 422,
    message: "The chain would refuse this transaction.",
    details: z.object({
      reason: z.enum(["no_token_account", "frozen", "program_error"]),
      logs: z.array(text).describe("From the simulation.").exactOptional(),
    }),
  },
  URL_UNREACHABLE: {
    status: 422,
    message: "The URL could not be reached.",
    details: z.object({ url: text }),
  },
  AMOUNT_TOO_SMALL: {
    status: 422,
    message: "The amount is below the minimum.",
    details: z.object({
      minimum: text.describe("In whole units of the asset."),
      index: whole.describe("Of the recipient, where the amount is one recipient's alone.").exactOptional(),
    }),
  },
  AMOUNT_TOO_LARGE: {
    status: 422,
    message: "The amount is above the maximum.",
    details: z.object({ maximum: text.describe("In whole units of the asset.") }),
  },
  INSUFFICIENT_LIQUIDITY: {
    status: 422,
    message: "There is not enough liquidity for this swap.",
    details: z.object({ available: text.describe("In whole units of the asset.") }),
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: "This Idempotency-Key was used with another request body.",
    details: z.object({
      transactionId: text.describe("Of the transaction that was made with the key.").exactOptional(),
    }),
  },
  VOLUME_LIMIT_EXCEEDED: {
    status: 422,
    message: "The account has reached the limit on what it may move within a day.",
    details: z.object({
      asset: text,
      limit: text.describe("In whole units of the asset."),
      used: text.describe("Taken for the account within the window, in whole units of the asset."),
      windowSeconds: whole,
    }),
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    message: "Too many requests of this kind.",
    details: z.object({ scope: text, limit: whole, windowSeconds: whole, retryAfter, tier: text }),
    header: RETRY_AFTER,
  },
  INTERNAL_ERROR: { status: 500, message: "Something went wrong on our side.", details: none },
  UPSTREAM_ERROR: {
    status: 502,
    message: "The ledger could not be asked; nothing was changed.",
    details: z.object({ retryAfter }),
    header: RETRY_AFTER,
  },
  SERVICE_PAUSED: {
    status: 503,
    message: "The service is paused: nothing new is taken, and what is under way goes on.",
    details: z.object({
      scope: text.describe("`wallet`, or the asset or the type that is paused."),
      reason: z
        .enum(["clock"])
        .describe("The service's clock and the chain's time are over a minute apart; absent for a pause.")
        .exactOptional(),
      retryAfter,
    }),
    header: RETRY_AFTER,
  },
  ROUTING_UNAVAILABLE: {
    status: 503,
    message: "This cannot be routed now; details.reason says why.",
    details: z.object({
      reason: z
        .enum(["paused", "liquidity", "capacity", "upstream", "clock", "off"])
        .describe(
          "Private mode is paused, cannot swap, has promised all it may spend, cannot ask a service it needs, or its clock and the chain's time are over a minute apart; `off`: this service has no private mode, or no swaps, and no repetition helps.",
        ),
      retryAfter: retryAfter.exactOptional(),
    }),
    header: RETRY_AFTER,
  },
  STORAGE_UNAVAILABLE: {
    status: 503,
    message: "The database cannot be used now: send the same request again.",
    details: z.object({ retryAfter }),
    header: RETRY_AFTER,
  },
  OUTCOME_UNKNOWN: {
    status: 503,
    message: "Whether this was done is not known yet: send the same request again.",
    details: z.object({ retryAfter }),
    header: RETRY_AFTER,
  },
} as const satisfies Readonly<Record<string, ErrorKind>>;

/** A code of the API. Codes are permanent: none is renamed or used for something else. */
export type ErrorCode = keyof typeof ERRORS;

/** The details of each code; over HTTP all details also have `requestId`. @interface */
export type ErrorDetails = {
  readonly [Code in ErrorCode]: Immutable<z.output<(typeof ERRORS)[Code]["details"]>>;
};
