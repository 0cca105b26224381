/** Endpoints of quotes: create, read, refresh. */
import { quoteSchema, refreshedQuote, shownQuote } from "../../payments/frame/quotes/quote-schema.ts";
import {
  CREATED_AT,
  EXPIRES_AT,
  QUOTE_ID,
  TRANSACTION_BASE64,
  RECIPIENT,
  SENDER,
  VAULT,
} from "../contract/examples.ts";
import { EXAMPLE_SWAP_QUOTE } from "./created-order.ts";
import { named } from "../../payments/frame/body-schemas.ts";
import { quoteRequest } from "../../payments/frame/requests.ts";
import { endpoint, fresh } from "../contract/endpoint.ts";

const EXAMPLE_PRICE = {
  quoteId: QUOTE_ID,
  outputAmount: "25",
  priceImpact: 0,
  expiresAt: EXPIRES_AT,
  inputAmount: "25",
  fee: "0.000005",
  fees: { network: "0.000005", routing: "0", rent: "0" },
};

/** A quote of a send in wallet mode, without the transaction to sign. */
const EXAMPLE_QUOTE = {
  ...EXAMPLE_PRICE,
  inputAsset: "USDC",
  outputAsset: "USDC",
  minOutputAmount: "25",
  feeAsset: "SOL",
  mode: "wallet",
  slippageBps: 100,
  createdAt: CREATED_AT,
  sender: SENDER,
  recipients: [{ address: RECIPIENT, amount: "25" }],
} as const;

const EXAMPLE_TOLD_ONCE = { warnings: [], transaction: TRANSACTION_BASE64 };

export const createQuote = endpoint({
  method: "POST",
  path: "/v1/quotes",
  operationId: "createQuote",
  tag: "Quotes",
  scope: "quotes:write",
  limit: "quotes",
  summary: "Prices a payment or a swap.",
  description:
    "A quote can be used once, by its own account. With `sender`, and unless it is a swap `recipients`, a quote in wallet mode carries the transaction to sign, and the quote holds for them only. They are checked as a transaction's are, so that a fault is told before anybody signs; what may still change is in `warnings`. They count in a limit of their own, `quote_parties`. A private quote without `recipients` is priced for one.",
  body: {
    schema: named("QuoteRequest", quoteRequest),
    examples: {
      send: {
        inputAsset: "USDC",
        outputAsset: "USDC",
        amount: "25",
        sender: SENDER,
        recipients: [{ address: RECIPIENT, amount: "25" }],
      },
      largePayroll: {
        inputAsset: "SOL",
        outputAsset: "SOL",
        amount: "0.5",
        sender: SENDER,
        recipients: [{ address: RECIPIENT, amount: "0.5" }],
        transactionVersion: 1,
      },
      vault: {
        inputAsset: "USDC",
        outputAsset: "USDC",
        amount: "25",
        sender: SENDER,
        recipients: [{ address: VAULT, amount: "25", allowOffCurve: true }],
      },
      privateSwap: EXAMPLE_SWAP_QUOTE, // modules: swap
    },
  },
  answer: {
    status: 201,
    schema: quoteSchema,
    examples: { send: { ...EXAMPLE_QUOTE, ...EXAMPLE_TOLD_ONCE } },
  },
  errors: [
    "INVALID_RECIPIENT",
    "INVALID_ASSET",
    "ACCOUNT_SUSPENDED",
    "AMOUNT_TOO_SMALL",
    "AMOUNT_TOO_LARGE",
    "INSUFFICIENT_LIQUIDITY",
    "TRANSACTION_WOULD_FAIL",
    "UPSTREAM_ERROR",
    "SERVICE_PAUSED",
    "ROUTING_UNAVAILABLE",
  ],
  serve: ({ service, caller, body, options }) => service.createQuote(caller, body, options),
});

export const getQuote = endpoint({
  method: "GET",
  path: "/v1/quotes/{quoteId}",
  operationId: "getQuote",
  tag: "Quotes",
  scope: "quotes:read",
  limit: "reads",
  summary: "A quote as it stands.",
  description: "Without the transaction to sign, which is told when the quote is made or refreshed.",
  answer: {
    status: 200,
    schema: shownQuote,
    examples: { open: { ...EXAMPLE_QUOTE, status: "open", transactionId: null } },
  },
  errors: ["QUOTE_NOT_FOUND"],
  serve: async ({ service, caller, path: { quoteId } }) => fresh(await service.quote(caller, quoteId)),
});

export const refreshQuote = endpoint({
  method: "POST",
  path: "/v1/quotes/{quoteId}/refresh",
  operationId: "refreshQuote",
  tag: "Quotes",
  scope: "quotes:write",
  limit: "quotes",
  summary: "Prices the same once more, under the same id.",
  description:
    "Until ten minutes after the quote's expiry, and never after its use. It takes no body. The fields that are not answered have not changed.",
  answer: {
    status: 200,
    schema: refreshedQuote,
    examples: { send: { ...EXAMPLE_PRICE, ...EXAMPLE_TOLD_ONCE } },
  },
  errors: [
    "ACCOUNT_SUSPENDED",
    "QUOTE_NOT_FOUND",
    "INVALID_RECIPIENT",
    "INVALID_QUOTE",
    "AMOUNT_TOO_SMALL",
    "AMOUNT_TOO_LARGE",
    "INSUFFICIENT_LIQUIDITY",
    "TRANSACTION_WOULD_FAIL",
    "UPSTREAM_ERROR",
    "SERVICE_PAUSED",
    "ROUTING_UNAVAILABLE",
  ],
  serve: ({ service, caller, path: { quoteId }, options }) => service.refreshQuote(caller, quoteId, options),
});
