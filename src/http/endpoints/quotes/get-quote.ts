/** GET /v1/quotes/{quoteId}. */
import { endpoint, fresh } from "../../contract/endpoint.ts";
import { EXAMPLE_QUOTE, shownQuote } from "./quote-schemas.ts";

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
