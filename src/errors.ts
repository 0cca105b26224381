/** The errors of the contract: one class, one table of codes, and with each code the details it promises. */
import type { SignatureFault } from "./ledger/ledger.ts";

/** One thing wrong with a request. `path` is the field, such as `recipients.0.amount`. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/** Nothing but the `requestId` that every error carries. */
export type NoDetails = Readonly<Record<string, never>>;

/** Every code of the contract and its details; the HTTP layer adds `requestId` to each. */
export interface ErrorDetails {
  VALIDATION_ERROR: { readonly fields: readonly FieldProblem[] };
  INVALID_RECIPIENT: {
    readonly index: number;
    readonly address: string;
    readonly reason:
      | "not_base58"
      | "wrong_length"
      | "duplicate"
      | "token_account"
      | "program"
      | "mint"
      | "off_curve"
      | "not_sender"
      | "own_address";
  };
  INVALID_SIGNATURE: { readonly reason: SignatureFault };
  INVALID_URL: {
    readonly url: string;
    readonly reason:
      "unparseable" | "not_https" | "credentials" | "private_address" | "too_long" | "bad_host" | "bad_port";
  };
  INVALID_EVENTS: { readonly invalid: readonly string[]; readonly allowed: readonly string[] };
  INVALID_ADDRESS: { readonly address: string };
  INVALID_ASSET: { readonly asset: string };
  INVALID_API_KEY: NoDetails;
  UNAUTHORIZED: { readonly transactionId: string };
  INSUFFICIENT_SCOPE: { readonly required: string };
  TRANSACTION_NOT_FOUND: { readonly transactionId: string };
  QUOTE_NOT_FOUND: { readonly quoteId: string };
  WEBHOOK_NOT_FOUND: { readonly webhookId: string };
  DELIVERY_NOT_FOUND: { readonly deliveryId: string };
  NOT_FOUND: { readonly path: string };
  METHOD_NOT_ALLOWED: { readonly method: string; readonly allowed: readonly string[] };
  CANNOT_CANCEL: {
    readonly transactionId: string;
    readonly currentStatus: string;
    readonly allowedStatuses: readonly string[];
  };
  ALREADY_PROCESSED: {
    readonly transactionId: string;
    readonly currentStatus: string;
    readonly reason: "broadcast" | "deposit_detected";
    readonly signature?: string;
  };
  DUPLICATE_TRANSACTION: { readonly transactionId?: string };
  WEBHOOK_LIMIT_EXCEEDED: { readonly limit: number; readonly current: number; readonly tier: string };
  PAYLOAD_TOO_LARGE: { readonly limitBytes: number };
  UNSUPPORTED_MEDIA_TYPE: { readonly expected: string };
  INVALID_QUOTE: {
    readonly quoteId: string;
    readonly reason:
      | "not_found"
      | "expired"
      | "used"
      | "mode_mismatch"
      | "same_asset"
      | "asset_mismatch"
      | "amount_mismatch"
      | "recipients_mismatch"
      | "sender_mismatch";
    readonly expiresAt?: string;
  };
  INSUFFICIENT_BALANCE: {
    readonly asset: string;
    readonly mint: string;
    readonly required: string;
    readonly available: string;
    readonly shortfall: string;
    readonly component: "amount" | "fee" | "rent";
  };
  TRANSACTION_WOULD_FAIL: {
    readonly reason: "no_token_account" | "frozen" | "program_error";
    readonly logs?: readonly string[];
  };
  URL_UNREACHABLE: { readonly url: string };
  /** `index` is the recipient's whose amount it is, where it is one's alone. */
  AMOUNT_TOO_SMALL: { readonly minimum: string; readonly index?: number };
  AMOUNT_TOO_LARGE: { readonly maximum: string };
  INSUFFICIENT_LIQUIDITY: { readonly available: string };
  IDEMPOTENCY_KEY_REUSED: NoDetails;
  RATE_LIMIT_EXCEEDED: {
    readonly scope: string;
    readonly limit: number;
    readonly windowSeconds: number;
    /** Whole seconds, rounded up. */
    readonly retryAfter: number;
    readonly tier: string;
  };
  /** `limit` and `used` are in whole units of `asset`, within the last `windowSeconds`. */
  VOLUME_LIMIT_EXCEEDED: {
    readonly asset: string;
    readonly limit: string;
    readonly used: string;
    readonly windowSeconds: number;
  };
  ACCOUNT_SUSPENDED: NoDetails;
  SERVICE_PAUSED: {
    /** `wallet`, or the asset or type that is paused. */
    readonly scope: string;
    readonly retryAfter: number;
  };
  INTERNAL_ERROR: NoDetails;
  UPSTREAM_ERROR: NoDetails;
  ROUTING_UNAVAILABLE: {
    readonly reason: "paused" | "liquidity" | "capacity" | "upstream";
    readonly retryAfter: number;
  };
}

/** A code of the contract. Codes are for ever: none is renamed or reused. */
export type ErrorCode = keyof ErrorDetails;

const MESSAGES: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: "The request has fields that cannot be accepted; details.fields names each.",
  INVALID_RECIPIENT: "A recipient's address cannot be paid.",
  INVALID_SIGNATURE: "The signed transaction cannot be accepted.",
  INVALID_URL: "The webhook URL is not a usable HTTPS URL.",
  INVALID_EVENTS: "The list of events is empty or names unknown events.",
  INVALID_ADDRESS: "The address is not a base58 address of 32 bytes.",
  INVALID_ASSET: "The asset is not one that this service moves.",
  INVALID_API_KEY: "The API key is missing or not valid.",
  UNAUTHORIZED: "This transaction belongs to another account.",
  INSUFFICIENT_SCOPE: "The API key does not have the scope that this request needs.",
  TRANSACTION_NOT_FOUND: "There is no such transaction.",
  QUOTE_NOT_FOUND: "There is no such quote.",
  WEBHOOK_NOT_FOUND: "There is no such webhook.",
  DELIVERY_NOT_FOUND: "There is no such delivery.",
  NOT_FOUND: "There is nothing at this path.",
  METHOD_NOT_ALLOWED: "This path does not take this method.",
  CANNOT_CANCEL: "The transaction's status does not allow cancelling it.",
  ALREADY_PROCESSED: "The transaction has passed the point of no return.",
  DUPLICATE_TRANSACTION: "This signed transaction was submitted before.",
  WEBHOOK_LIMIT_EXCEEDED: "The account has as many webhooks as its tier allows.",
  PAYLOAD_TOO_LARGE: "The request body is too large.",
  UNSUPPORTED_MEDIA_TYPE: "The request body must be application/json.",
  INVALID_QUOTE: "The quote cannot be used for this transaction.",
  INSUFFICIENT_BALANCE: "The sender does not have enough for this transaction.",
  TRANSACTION_WOULD_FAIL: "The chain would refuse this transaction.",
  URL_UNREACHABLE: "The URL could not be reached.",
  AMOUNT_TOO_SMALL: "The amount is below the minimum.",
  AMOUNT_TOO_LARGE: "The amount is above the maximum.",
  INSUFFICIENT_LIQUIDITY: "There is not enough liquidity for this swap.",
  IDEMPOTENCY_KEY_REUSED: "This Idempotency-Key was used with another request body.",
  RATE_LIMIT_EXCEEDED: "Too many requests of this kind.",
  VOLUME_LIMIT_EXCEEDED: "The account has reached the limit on what it may move within a day.",
  ACCOUNT_SUSPENDED: "The account is suspended: nothing new is taken.",
  SERVICE_PAUSED: "The service is paused: nothing new is taken, and what is under way goes on.",
  INTERNAL_ERROR: "Something went wrong on our side.",
  UPSTREAM_ERROR: "The ledger could not be asked; nothing was changed.",
  ROUTING_UNAVAILABLE: "Private mode is temporarily unavailable.",
};

/** The error of every use case. `code` narrows `details`; the message is for people and no interface. */
export class PaymentError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "PaymentError";
  readonly code: Code;
  readonly details: ErrorDetails[Code];

  constructor(code: Code, details: ErrorDetails[Code], options?: ErrorOptions) {
    super(MESSAGES[code], options);
    this.code = code;
    this.details = details;
  }
}

/** Whether something thrown is a `PaymentError`, and of this code when one is given. */
export function isPaymentError<Code extends ErrorCode>(
  thrown: unknown,
  code?: Code,
): thrown is PaymentError<Code> {
  return thrown instanceof PaymentError && (code === undefined || thrown.code === code);
}
