/** The details of every error as schemas: the values of `reason` included, which callers decide by. */
import { z } from "zod";
import type { ErrorCode, ErrorDetails } from "../../errors.ts";

const none = z.object({});
const text = z.string();
const whole = z.int();
const seconds = whole.describe("Whole seconds; the same as Retry-After.");

const INVALID_RECIPIENT = z.object({
  index: whole.describe("Of the recipient in `recipients`, from 0."),
  address: text,
  reason: z.enum([
    ...["not_base58", "wrong_length", "duplicate", "token_account", "program", "mint", "off_curve"],
    ...["not_sender", "own_address"],
  ] as const),
});

const INVALID_SIGNATURE = z.object({
  reason: z.enum([
    ...["not_base64", "too_large", "undecodable", "unsupported_version", "missing_signature"],
    ...["bad_signature", "sender_not_signer", "content_mismatch", "instruction_not_allowed"],
    ...["blockhash_expired", "durable_nonce", "unknown_lookup_table"],
  ] as const),
});

const INVALID_QUOTE = z.object({
  quoteId: text,
  reason: z.enum([
    ...["not_found", "expired", "used", "mode_mismatch", "same_asset", "asset_mismatch"],
    ...["amount_mismatch", "recipients_mismatch", "sender_mismatch"],
  ] as const),
  expiresAt: text.exactOptional(),
});

/** The details of each code, `requestId` aside. */
export const DETAILS: { readonly [Code in ErrorCode]: z.ZodType<ErrorDetails[Code]> } = {
  VALIDATION_ERROR: z.object({
    fields: z.array(z.object({ path: text.describe("Such as `recipients.0.amount`."), message: text })),
  }),
  INVALID_RECIPIENT,
  INVALID_SIGNATURE,
  INVALID_URL: z.object({
    url: text,
    reason: z.enum([
      ...["unparseable", "not_https", "credentials", "private_address", "too_long", "bad_host", "bad_port"],
    ] as const),
  }),
  INVALID_EVENTS: z.object({ invalid: z.array(text), allowed: z.array(text) }),
  INVALID_ADDRESS: z.object({ address: text }),
  INVALID_ASSET: z.object({ asset: text }),
  INVALID_API_KEY: none,
  UNAUTHORIZED: z.object({ transactionId: text }),
  INSUFFICIENT_SCOPE: z.object({ required: text }),
  TRANSACTION_NOT_FOUND: z.object({ transactionId: text }),
  QUOTE_NOT_FOUND: z.object({ quoteId: text }),
  WEBHOOK_NOT_FOUND: z.object({ webhookId: text }),
  DELIVERY_NOT_FOUND: z.object({ deliveryId: text }),
  NOT_FOUND: z.object({ path: text }),
  METHOD_NOT_ALLOWED: z.object({ method: text, allowed: z.array(text) }),
  CANNOT_CANCEL: z.object({ transactionId: text, currentStatus: text, allowedStatuses: z.array(text) }),
  ALREADY_PROCESSED: z.object({
    transactionId: text,
    currentStatus: text,
    reason: z
      .enum(["broadcast", "deposit_detected"])
      .describe("Wallet mode: the bytes have left. Private mode: a deposit was seen, at any commitment."),
    signature: text.exactOptional(),
  }),
  DUPLICATE_TRANSACTION: z.object({ transactionId: text.exactOptional() }),
  WEBHOOK_LIMIT_EXCEEDED: z.object({ limit: whole, current: whole, tier: text }),
  PAYLOAD_TOO_LARGE: z.object({ limitBytes: whole }),
  UNSUPPORTED_MEDIA_TYPE: z.object({ expected: text }),
  INVALID_QUOTE,
  INSUFFICIENT_BALANCE: z.object({
    ...{ asset: text, mint: text, required: text, available: text, shortfall: text },
    component: z.enum(["amount", "fee", "rent"]),
  }),
  TRANSACTION_WOULD_FAIL: z.object({
    reason: z.enum(["no_token_account", "frozen", "program_error"]),
    logs: z.array(text).readonly().exactOptional(),
  }),
  URL_UNREACHABLE: z.object({ url: text }),
  AMOUNT_TOO_SMALL: z.object({
    minimum: text,
    index: whole.describe("Of the recipient whose amount it is, where it is one's alone.").exactOptional(),
  }),
  AMOUNT_TOO_LARGE: z.object({ maximum: text }),
  INSUFFICIENT_LIQUIDITY: z.object({ available: text }),
  IDEMPOTENCY_KEY_REUSED: none,
  RATE_LIMIT_EXCEEDED: z.object({
    ...{ scope: text, limit: whole, windowSeconds: whole, retryAfter: seconds, tier: text },
  }),
  VOLUME_LIMIT_EXCEEDED: z.object({
    asset: text,
    limit: text.describe("In whole units of the asset."),
    used: text.describe("Taken for the account within the window, in whole units."),
    windowSeconds: whole,
  }),
  ACCOUNT_SUSPENDED: none,
  SERVICE_PAUSED: z.object({
    scope: text.describe("`wallet`, or the asset or the type that is paused."),
    retryAfter: seconds,
  }),
  INTERNAL_ERROR: none,
  UPSTREAM_ERROR: none,
  ROUTING_UNAVAILABLE: z.object({
    reason: z
      .enum(["paused", "liquidity", "capacity", "upstream"])
      .describe(
        "Private mode is off, cannot exchange, has promised all it may spend, or cannot ask somebody it needs.",
      ),
    retryAfter: seconds,
  }),
};
