/** The few lines that a client of the API needs. */
import type {
  BalancesBody,
  CreatedTransactionBody,
  QuoteBody,
  QuoteRequest,
  TransactionBody,
  TransactionRequest,
  WebhookRequest,
} from "paystate";

/** Talks to the service with one key; throws the service's own error code and message. */
export interface Client {
  balances(address: string): Promise<BalancesBody>;
  quote(request: QuoteRequest): Promise<QuoteBody>;
  create(request: TransactionRequest): Promise<CreatedTransactionBody>;
  transaction(transactionId: string): Promise<TransactionBody>;
  registerWebhook(request: WebhookRequest): Promise<unknown>;
}

/** `baseUrl` is asked at every call: a service that was started again may listen elsewhere. */
export function createClient(baseUrl: () => string, apiKey: string): Client {
  const call = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const response = await fetch(`${baseUrl()}/v1/${path}`, { ...init, headers });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    const { code, message } = (answer as { error: { code: string; message: string } }).error;
    throw new Error(`${init.method ?? "GET"} /v1/${path} answered ${response.status} ${code}: ${message}`);
  };
  const post = (path: string, body: unknown): Promise<unknown> =>
    call(path, { method: "POST", body: JSON.stringify(body) });
  return {
    balances: async (address) => (await call(`balances/${address}`)) as BalancesBody,
    quote: async (request) => (await post("quotes", request)) as QuoteBody,
    create: async (request) => (await post("transactions", request)) as CreatedTransactionBody,
    transaction: async (id) => (await call(`transactions/${id}`)) as TransactionBody,
    registerWebhook: (request) => post("webhooks", request),
  };
}
