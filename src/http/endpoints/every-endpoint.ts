/** Every endpoint that this version serves. The router, the checks, the document, the pages and the README follow from it. */
import type { Endpoint } from "../contract/endpoint.ts";
import { getAccount } from "./account/get-account.ts";
import { getBalances } from "./balances/get-balances.ts";
import { listEvents } from "./events/list-events.ts";
import { listTransactionEvents } from "./events/list-transaction-events.ts";
import { createQuote } from "./quotes/create-quote.ts";
import { getQuote } from "./quotes/get-quote.ts";
import { refreshQuote } from "./quotes/refresh-quote.ts";
import { getDocs } from "./reference/get-docs.ts";
import { getOpenApi } from "./reference/get-openapi.ts";
import { listTokens } from "./tokens/list-tokens.ts";
import { cancelTransaction } from "./transactions/cancel-transaction.ts";
import { createTransaction } from "./transactions/create-transaction.ts";
import { getTransaction } from "./transactions/get-transaction.ts";
import { listTransactions } from "./transactions/list-transactions.ts";
import { deleteWebhook } from "./webhooks/delete-webhook.ts";
import { getWebhook } from "./webhooks/get-webhook.ts";
import { listDeliveries } from "./webhooks/list-deliveries.ts";
import { listWebhooks } from "./webhooks/list-webhooks.ts";
import { recoverWebhook } from "./webhooks/recover-webhook.ts";
import { redeliver } from "./webhooks/redeliver.ts";
import { registerWebhook } from "./webhooks/register-webhook.ts";
import { testWebhook } from "./webhooks/test-webhook.ts";
import { updateWebhook } from "./webhooks/update-webhook.ts";

const DECLARED = [
  listTokens,
  getBalances,
  createQuote,
  getQuote,
  refreshQuote,
  createTransaction,
  listTransactions,
  getTransaction,
  cancelTransaction,
  listTransactionEvents,
  listEvents,
  registerWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  testWebhook,
  listDeliveries,
  redeliver,
  recoverWebhook,
  getAccount,
  getOpenApi,
  getDocs,
] as const;

/** All endpoints, in the order in which they are shown. */
export const ENDPOINTS: readonly Endpoint[] = DECLARED;

/** A served endpoint, with the exact types of its requests and answers. */
export type ServedEndpoint = (typeof DECLARED)[number];
