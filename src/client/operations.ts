/** Method, path and kind of body of each endpoint: the running client knows nothing else of the endpoints. */
import type { OperationId, OperationOf } from "./methods.ts";
import { webhookOperations } from "./webhook-operations.ts";

/** The client's knowledge about an endpoint. */
export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly sends: "body" | "query" | "nothing";
  readonly reads: "object" | "text" | "lines" | "pages";
  /** The field of a list's elements by which the next page is asked for. */
  readonly id?: string;
}

/**
 * The operations of the client, by operationId. A row that differs from the endpoint's declaration does not compile.
 */
export const OPERATIONS = {
  listTokens: { method: "GET", path: "/v1/tokens", sends: "nothing", reads: "object" },
  getBalances: { method: "GET", path: "/v1/balances/{address}", sends: "nothing", reads: "object" },
  createQuote: { method: "POST", path: "/v1/quotes", sends: "body", reads: "object" },
  getQuote: { method: "GET", path: "/v1/quotes/{quoteId}", sends: "nothing", reads: "object" },
  refreshQuote: { method: "POST", path: "/v1/quotes/{quoteId}/refresh", sends: "nothing", reads: "object" },
  createTransaction: { method: "POST", path: "/v1/transactions", sends: "body", reads: "object" },
  listTransactions: {
    method: "GET",
    path: "/v1/transactions",
    sends: "query",
    reads: "pages",
    id: "transactionId",
  },
  exportTransactions: {
    method: "GET",
    path: "/v1/transactions/export",
    sends: "query",
    reads: "lines",
  },
  getTransaction: {
    method: "GET",
    path: "/v1/transactions/{transactionId}",
    sends: "query",
    reads: "object",
  },
  cancelTransaction: {
    method: "DELETE",
    path: "/v1/transactions/{transactionId}",
    sends: "nothing",
    reads: "object",
  },
  ...webhookOperations,
  getAccount: { method: "GET", path: "/v1/account", sends: "nothing", reads: "object" },
  getOpenApi: { method: "GET", path: "/v1/openapi.json", sends: "nothing", reads: "object" },
  getDocs: { method: "GET", path: "/v1/docs", sends: "nothing", reads: "text" },
} as const satisfies { readonly [Name in OperationId]: OperationOf<Name> };
