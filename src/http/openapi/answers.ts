/** What every endpoint answers, field by field: the words and shapes of the OpenAPI document. */
import { z } from "zod";
import type { Token } from "../../payments/assets/assets.ts";
import type { CancelledTransactionBody } from "../../payments/transactions/cancel-transaction.ts";
import type { CreatedTransferBody } from "../../payments/wallet/accept-signed.ts";
import type { CreatedOrderBody } from "../../payments/private/accept-order.ts";
import type { RecoveryBody } from "../../payments/webhooks/recover-deliveries.ts";
import type { DeliveryBody } from "../../payments/webhooks/delivery-body.ts";
import type { EventBody } from "../../payments/webhooks/list-events.ts";
import type { Page } from "../../payments/page.ts";
import type { AccountBody } from "../../payments/accounts/read-account.ts";
import type { QuoteBody, RefreshedQuoteBody, ShownQuoteBody } from "../../payments/quotes/quote-body.ts";
import type { BalancesBody } from "../../payments/assets/read-balances.ts";
import type { TransactionBody } from "../../payments/transactions/read-transaction.ts";
import type { TestedWebhookBody } from "../../payments/webhooks/test-webhook.ts";
import type { WebhookBody, WholeWebhookBody } from "../../payments/webhooks/webhook-body.ts";

const text = (words: string): z.ZodString => z.string().describe(words);
const amount = (words: string): z.ZodString =>
  z
    .string()
    .regex(/^[0-9]+(\.[0-9]+)?$/)
    .describe(words);
const time = (words: string): z.ZodISODateTime => z.iso.datetime().describe(words);

const pageOf = <Element extends z.ZodType>(element: Element) =>
  z.object({
    data: z.array(element),
    hasMore: z
      .boolean()
      .describe(
        "Whether another page follows: `startingAfter` the last id of this one. A page may be short.",
      ),
  });

const quotePrice = {
  quoteId: text("Names the quote; a refresh keeps it."),
  outputAmount: amount("What the recipients get in all; of a swap what it is worth now."),
  priceImpact: z.number().describe("Of a swap, in percent; 0 otherwise."),
  expiresAt: time("30 seconds (wallet) or 60 seconds (private) after the quote was made or refreshed."),
  inputAmount: amount("What is given; in private mode it includes the fee, and is what has to be deposited."),
  fee: amount("The sum of `fees`, in `feeAsset`. In private mode the most that is kept, refunds aside."),
  fees: z
    .object({
      network: amount("What the network charges."),
      routing: amount("The service's own part; 0 in wallet mode."),
      rent: amount("Token accounts that have to be made for recipients."),
    })
    .describe("In whole units of `feeAsset`."),
  transaction: text(
    "Wallet mode, with a sender and, unless it is a swap, recipients: the unsigned transaction in base64, for the wallet to sign.",
  ).exactOptional(),
};

/** POST /v1/quotes. */
const quote = z.object({
  ...quotePrice,
  inputAsset: text("Symbol of what is given."),
  outputAsset: text("Symbol of what is got; another one makes it a swap."),
  minOutputAmount: amount("Of a private swap the least that is paid out; below it the deposit is refunded."),
  feeAsset: text("SOL in wallet mode, the input asset in private mode."),
  mode: z.enum(["wallet", "private"]),
  slippageBps: z
    .int()
    .describe("How far below `outputAmount` a private swap may end, in hundredths of a percent."),
  createdAt: time("When it was made."),
}) satisfies z.ZodType<QuoteBody>;

/** GET /v1/quotes/{quoteId}. */
const shownQuote = quote.omit({ transaction: true }).extend({
  status: z.enum(["open", "expired", "used"]).describe("An expired one can be refreshed for ten minutes."),
  transactionId: z.string().nullable().describe("The transaction that used it up."),
}) satisfies z.ZodType<ShownQuoteBody>;

/** POST /v1/quotes/{quoteId}/refresh. */
const refreshedQuote = z.object({
  ...quotePrice,
  minOutputAmount: amount("Of swaps only.").exactOptional(),
}) satisfies z.ZodType<RefreshedQuoteBody>;

const deposit = {
  ephemeralAddress: text(
    "The one-time deposit address. Send to it from a wallet of your own, never from an exchange: refunds go to `sender`.",
  ),
  depositAmount: amount(
    "How much to deposit: what the recipients get, and the fee. Less waits for the rest.",
  ),
  depositAsset: text("Symbol of what to deposit. SOL, USDC or USDT that was not asked for is refunded."),
  depositMint: z.string().nullable().describe("Its mint; null for SOL, which has none."),
  depositExpiresAt: time("The end of the deposit window by the chain's clock. What comes later is refunded."),
};

const created = {
  transactionId: text("Names the transaction."),
  status: text("`pending`, also when the same request is answered again."),
  createdAt: time("When it was taken."),
};

/** POST /v1/transactions. */
const createdTransaction = z.union([
  z
    .object({
      ...created,
      mode: z.literal("wallet"),
      signature: text("The transaction's own first signature, known before it is broadcast."),
    })
    .describe(
      "Wallet mode: the signed transaction was taken and is broadcast at once.",
    ) satisfies z.ZodType<CreatedTransferBody>,
  z
    .object({ ...created, mode: z.literal("private"), ...deposit })
    .describe(
      "Private mode: the service waits for the deposit and then pays.",
    ) satisfies z.ZodType<CreatedOrderBody>,
]);

const recipient = z.object({
  address: text("The owner who is paid."),
  amount: amount("Its share. Of a private swap the quoted estimate until it is paid, then what was paid."),
  status: z
    .enum(["pending", "confirmed", "paid", "unpaid"])
    .describe(
      "`paid` and `unpaid` are final. A private payroll pays each recipient or not; those who cannot be paid do not keep the others from it.",
    ),
  signature: z.string().nullable().describe("Of the transaction that paid this recipient."),
});

const refund = z.object({
  asset: text("Symbol, or the mint of a token that is none of the service's assets."),
  amount: amount("What goes back, its own cost taken off."),
  signature: z.string().nullable(),
  status: z.enum(["pending", "paid", "held"]).describe("`held`: it waits for the operator."),
});

const received = z.object({
  asset: text("Symbol, or the mint of a token that is none of the service's assets."),
  mint: z.string(),
  amount: amount("In whole units; of a token that is none of the service's assets, in raw units."),
  signature: z.string().nullable().describe("Null: deposits are told from balances."),
  counted: z.boolean().describe("Whether it counts towards `depositAmount`. What does not goes back."),
});

/** GET /v1/transactions/{transactionId}. */
const transaction = z.object({
  transactionId: text("Names the transaction."),
  status: z
    .enum(["pending", "processing", "confirmed", "completed", "failed", "cancelled"])
    .describe(
      "Wallet: pending, confirmed, completed or failed. Private: pending (waiting for the deposit), processing (deposited and final; paying or refunding), confirmed (all payouts confirmed), completed (all final) or failed. cancelled only from pending. It never goes back.",
    ),
  signature: z.string().nullable().describe("Wallet: of the given bytes. Private: of the last payout."),
  blockTime: z.int().nullable().describe("Unix seconds of the last payment, once final."),
  fee: amount("Wallet: in SOL, as paid. Private: in what was deposited; 0 when nothing is kept.").nullable(),
  type: z.enum(["send", "payroll", "swap"]),
  mode: z.enum(["wallet", "private"]),
  recipients: z.array(recipient),
  reason: z
    .string()
    .nullable()
    .describe(
      "Why it failed: of private mode DEPOSIT_TIMEOUT (nothing came), INCOMPLETE_DEPOSIT (too little, refunded), PARTIAL_PAYOUT (some recipients could not be paid; the rest is refunded).",
    ),
  signatures: z.array(z.string()).describe("Every transaction that pays recipients."),
  refunds: z
    .array(refund)
    .describe("Private mode: what goes back to `sender`, never to the address that paid."),
  createdAt: time("When it was taken."),
  cancelledAt: time("When it was cancelled.").nullable(),
  ephemeralAddress: deposit.ephemeralAddress.exactOptional(),
  depositAmount: deposit.depositAmount.exactOptional(),
  depositAsset: deposit.depositAsset.exactOptional(),
  depositMint: deposit.depositMint.exactOptional(),
  depositExpiresAt: deposit.depositExpiresAt.exactOptional(),
  reference: z.string().nullable().describe("As it was given."),
  attention: z
    .enum(["unprovable", "held", "waiting_for_price", "waiting_for_funds"])
    .nullable()
    .describe(
      "What keeps it from going on; `unprovable`: no evidence tells whether it landed. Null while nothing does.",
    ),
  attentionMessage: z.string().nullable().describe("The same as a sentence."),
  received: z.array(received).describe("Private mode: everything that came, oldest first.").exactOptional(),
  remainingAmount: amount("Private mode: what is still to be deposited.").exactOptional(),
  landedAfterCancel: z
    .literal(true)
    .describe("It landed although it was cancelled here, or judged to be past landing.")
    .exactOptional(),
}) satisfies z.ZodType<TransactionBody>;

/** GET /v1/transactions. */
const transactions = pageOf(transaction) satisfies z.ZodType<Page<TransactionBody>>;

const cancelled = z.object({
  transactionId: z.string(),
  status: z.literal("cancelled"),
  cancelledAt: time("When it was cancelled."),
}) satisfies z.ZodType<CancelledTransactionBody>;

const webhook = z.object({
  webhookId: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  createdAt: time("When it was registered."),
}) satisfies z.ZodType<WebhookBody>;

const wholeWebhook = webhook.extend({
  enabled: z.boolean().describe("Nothing is delivered to a webhook that is not enabled."),
  disabledReason: z
    .string()
    .nullable()
    .describe("Why it is not enabled, disabled_by_owner or disabled_after_failures; null while it is."),
}) satisfies z.ZodType<WholeWebhookBody>;

const tokens = z.object({
  tokens: z.array(
    z.object({
      ...{ symbol: z.string(), name: z.string(), mint: z.string(), decimals: z.int(), logoUri: z.string() },
    }),
  ),
}) satisfies z.ZodType<{ tokens: readonly (Omit<Token, "mint"> & { mint: string })[] }>;

const balances = z.object({
  address: z.string(),
  sol: amount("In SOL."),
  tokens: z.array(
    z.object({
      ...{ mint: z.string(), symbol: z.string(), balance: amount("In whole units."), decimals: z.int() },
    }),
  ),
}) satisfies z.ZodType<BalancesBody>;

const deliveryError = z
  .string()
  .nullable()
  .describe(
    "Null when it was delivered; otherwise dns, connect, tls, timeout, reset, redirect, http_status, headers_too_large or crashed.",
  );

/** POST /v1/webhooks/{webhookId}/test. */
const testedWebhook = z.object({
  deliveryId: z.string(),
  webhookId: z.string(),
  event: z.string(),
  delivered: z.boolean().describe("Whether the receiver answered as it has to, in time."),
  httpStatus: z.int().nullable().describe("Null when no answer came."),
  durationMs: z.int(),
  error: deliveryError,
}) satisfies z.ZodType<TestedWebhookBody>;

/** GET /v1/events, and those of one transaction. */
const events = pageOf(
  z.object({
    eventId: text("The same as `webhook-id` of its deliveries."),
    event: z.string(),
    transactionId: z.string(),
    createdAt: time("When it happened."),
    data: z.record(z.string(), z.unknown()).describe("As webhooks have it."),
  }),
) satisfies z.ZodType<Page<EventBody>>;

const openingMs = z.int().nullable().describe("Null where a kept connection served, or none was opened.");
const attemptPhases = z.object({
  ...{ dnsMs: openingMs, connectMs: openingMs, tlsMs: openingMs },
  firstByteMs: z.int().nullable().describe("From the start to the status line; null when no answer came."),
});

const delivery = z.object({
  deliveryId: z.string(),
  webhookId: z.string(),
  eventId: z.string(),
  event: z.string(),
  transactionId: z.string(),
  status: z
    .enum(["pending", "delivered", "abandoned", "dropped"])
    .describe("`dropped`: the webhook was deleted or disabled before it was due."),
  createdAt: time("When what it tells of happened."),
  attempts: z
    .array(
      z.object({
        number: z.int(),
        startedAt: time("When it began."),
        durationMs: z.int().describe("Until the answer was read, or the attempt had failed."),
        phases: attemptPhases,
        httpStatus: z.int().nullable().describe("Null when no answer came."),
        error: deliveryError,
        excerpt: z.string().nullable().describe("The beginning of the answer's body."),
      }),
    )
    .describe("Those that have ended, in their order."),
}) satisfies z.ZodType<DeliveryBody>;
const deliveries = pageOf(delivery) satisfies z.ZodType<Page<DeliveryBody>>;

/** POST /v1/webhooks/{webhookId}/recover. */
const recovered = z.object({
  webhookId: z.string(),
  since: time("As it was asked for."),
  recovered: z.int().describe("How many deliveries were begun."),
  hasMore: z.boolean().describe("Whether the same request again would begin more."),
}) satisfies z.ZodType<RecoveryBody>;

/** GET /v1/account. */
const account = z.object({
  accountId: z.string(),
  tier: z.enum(["free", "pro", "enterprise"]),
  scopes: z.array(z.string()).describe("What this key is allowed to do."),
  limits: z
    .array(
      z.object({
        scope: text("As the RateLimit headers name it."),
        limit: z.int(),
        windowSeconds: z.int(),
        remaining: z.int(),
        resetSeconds: z.int().describe("Until the oldest counted request leaves the window."),
      }),
    )
    .describe("How many requests there may be, and what is left of them."),
  webhooks: z.object({ limit: z.int(), current: z.int() }).describe("Registered webhooks."),
}) satisfies z.ZodType<AccountBody>;

const deletedWebhook = z.object({ webhookId: z.string(), deleted: z.literal(true) });
const webhooks = z.object({ webhooks: z.array(wholeWebhook) });
const document = z.looseObject({ openapi: z.string() });

/** The bodies of successes by their names. */
export const ANSWERS = {
  ...{
    tokens,
    balances,
    quote,
    shownQuote,
    refreshedQuote,
    account,
    createdTransaction,
    transaction,
    transactions,
    cancelled,
  },
  ...{
    webhook,
    wholeWebhook,
    webhooks,
    testedWebhook,
    deletedWebhook,
    document,
    events,
    delivery,
    deliveries,
    recovered,
  },
} as const;
