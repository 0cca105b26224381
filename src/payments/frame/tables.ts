/** The tables that the payment service brings to its storage. Each is declared once: its columns are the type of its rows. */
import type { Row } from "../../../storage/table.ts";
import { attempts } from "./tables/attempts.ts";
import { facts } from "./tables/database.ts";
import { accounts, apiKeys, idempotency } from "./tables/identity.ts";
import { gates, limitHits, reservations, spendings, volumes } from "./tables/limits.ts";
import { announcements, notices, untoldEvents } from "./tables/notices.ts";
import { audit, decisions, matters } from "./tables/operator.ts";
import { quotes, recipients, transactions } from "./tables/orders.ts";
import { acts, chunks, deposits, holds, levels, orders, orderStubs, transfers } from "./tables/private.ts";
import { deliveries, deliveryAttempts, webhookLists, webhooks } from "./tables/webhooks.ts";

export const paymentTables = {
  facts,
  accounts,
  apiKeys,
  quotes,
  transactions,
  recipients,
  orders,
  chunks,
  transfers,
  levels,
  deposits,
  holds,
  acts,
  orderStubs,
  reservations,
  attempts,
  idempotency,
  notices,
  announcements,
  untoldEvents,
  webhooks,
  webhookLists,
  deliveries,
  deliveryAttempts,
  limitHits,
  spendings,
  gates,
  volumes,
  matters,
  decisions,
  audit,
};

export type TableName = keyof typeof paymentTables;

/** The rows of each, by the table's name: times in milliseconds since the Unix epoch, amounts in base units. */
export type PaymentTables = { readonly [T in TableName]: Row<(typeof paymentTables)[T]> };
