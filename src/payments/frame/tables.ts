/** The tables that every payment service has, whatever modules it is made of. Each is declared once: its columns are the type of its rows. */
import type { AnyTable, Row } from "../../../storage/table.ts";
import { attempts } from "./tables/attempts.ts";
import { facts } from "./tables/database.ts";
import { accounts, apiKeys, idempotency } from "./tables/identity.ts";
import { gates, limitHits, reservations, spendings, volumes } from "./tables/limits.ts";
import { notices, untoldEvents } from "./tables/notices.ts";
import { audit, decisions, matters } from "./tables/operator.ts";
import { quotes, recipients, transactions } from "./tables/orders.ts";

export const frameTables = {
  facts,
  accounts,
  apiKeys,
  quotes,
  transactions,
  recipients,
  reservations,
  attempts,
  idempotency,
  notices,
  untoldEvents,
  limitHits,
  spendings,
  gates,
  volumes,
  matters,
  decisions,
  audit,
};

/** The rows of tables, by the table's name: times in milliseconds since the Unix epoch, amounts in base units. */
export type RowsOf<Tables extends Readonly<Record<string, AnyTable>>> = {
  readonly [T in keyof Tables]: Row<Tables[T]>;
};

export type FrameTables = RowsOf<typeof frameTables>;
