/** POST /v1/quotes. */
import { quoteRequest } from "../../../payments/requests.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { RECIPIENT, SENDER } from "../../contract/examples.ts";
import { named } from "../../contract/named-schema.ts";
import { EXAMPLE_QUOTE, EXAMPLE_UNSIGNED, quote } from "./quote-schemas.ts";

export const createQuote = endpoint({
  method: "POST",
  path: "/v1/quotes",
  operationId: "createQuote",
  tag: "Quotes",
  scope: "quotes:write",
  limit: "quotes",
  summary: "Prices a payment or a swap.",
  description:
    "A quote can be used once, by its own account. With `sender`, and unless it is a swap `recipients`, a quote in wallet mode carries the transaction to sign, and the quote holds for them only. A private quote without `recipients` is priced for one.",
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
      privateSwap: {
        inputAsset: "SOL",
        outputAsset: "USDC",
        amount: "1.5",
        mode: "private",
        slippageBps: 50,
      },
    },
  },
  answer: { status: 201, schema: quote, examples: { send: { ...EXAMPLE_QUOTE, ...EXAMPLE_UNSIGNED } } },
  errors: [
    "INVALID_RECIPIENT",
    "INVALID_ASSET",
    "ACCOUNT_SUSPENDED",
    "AMOUNT_TOO_SMALL",
    "AMOUNT_TOO_LARGE",
    "INSUFFICIENT_LIQUIDITY",
    "UPSTREAM_ERROR",
    "SERVICE_PAUSED",
    "ROUTING_UNAVAILABLE",
  ],
  serve: ({ service, caller, body, options }) => service.createQuote(caller, body, options),
});
