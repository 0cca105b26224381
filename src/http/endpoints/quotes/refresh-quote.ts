/** POST /v1/quotes/{quoteId}/refresh. */
import { endpoint } from "../../contract/endpoint.ts";
import { EXAMPLE_PRICE, EXAMPLE_UNSIGNED, refreshedQuote } from "./quote-schemas.ts";

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
    examples: { send: { ...EXAMPLE_PRICE, ...EXAMPLE_UNSIGNED } },
  },
  errors: [
    "ACCOUNT_SUSPENDED",
    "QUOTE_NOT_FOUND",
    "INVALID_QUOTE",
    "AMOUNT_TOO_SMALL",
    "AMOUNT_TOO_LARGE",
    "INSUFFICIENT_LIQUIDITY",
    "UPSTREAM_ERROR",
    "SERVICE_PAUSED",
    "ROUTING_UNAVAILABLE",
  ],
  serve: ({ service, caller, path: { quoteId }, options }) => service.refreshQuote(caller, quoteId, options),
});
