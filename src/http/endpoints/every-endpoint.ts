/** Every endpoint that this version serves. The router, the checks, the document, the pages and the README follow from it. */
import type { Endpoint } from "../contract/endpoint.ts";
import { getAccount } from "./account.ts";
import { getBalances, listTokens } from "./assets.ts";
import { listEvents, listTransactionEvents } from "./events.ts";
import { createQuote, getQuote, refreshQuote } from "./quotes.ts";
import { getDocs, getOpenApi } from "./reference.ts";
import {
  cancelTransaction,
  createTransaction,
  exportTransactions,
  getTransaction,
  listTransactions,
} from "./transactions.ts";
import {
  deleteWebhook,
  getWebhook,
  listWebhooks,
  registerWebhook,
  testWebhook,
  updateWebhook,
} from "./webhooks.ts";
import { listDeliveries, recoverWebhook, redeliver } from "./deliveries.ts";

const DECLARED = [
  listTokens,
  getBalances,
  createQuote,
  getQuote,
  refreshQuote,
  createTransaction,
  listTransactions,
  // Before the path of one: `export` is no id.
  exportTransactions,
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
