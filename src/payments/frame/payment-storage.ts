/** A storage as the payment service sees it: with its own tables, its own writes, and its reads by name. */
import type { Commit, CommitAnswer, EngineStorage, Write } from "../../../storage/storage.ts";
import { EngineStore } from "../../engine/kernel/engine-store.ts";
import { watchRows } from "../../workflow/watch-rows.ts";
import { paymentTables, type PaymentTables } from "./tables.ts";
import { attemptReads } from "./tables/attempts.ts";
import { databaseReads } from "./tables/database.ts";
import { identityReads } from "./tables/identity.ts";
import { limitReads } from "./tables/limits.ts";
import { noticeReads } from "./tables/notices.ts";
import { operatorReads } from "./tables/operator.ts";
import { orderReads } from "./tables/orders.ts";
import { privateReads } from "./tables/private.ts";
import type { TableReader } from "./tables/read.ts";
import { webhookReads } from "./tables/webhooks.ts";

export type PaymentWrite = Write<PaymentTables>;

const paymentReads = (read: TableReader) => ({
  ...databaseReads(read),
  ...identityReads(read),
  ...orderReads(read),
  ...attemptReads(read),
  ...privateReads(read),
  ...noticeReads(read),
  ...webhookReads(read),
  ...limitReads(read),
  ...operatorReads(read),
});

/** Reads of the payment service's tables. */
export type PaymentReads = Readonly<ReturnType<typeof paymentReads>>;

/** A storage with the tables of the payment service. */
export interface PaymentStorage extends EngineStorage, PaymentReads {
  commit(items: readonly Commit<PaymentTables>[]): Promise<readonly CommitAnswer[]>;
}

/** The way to a storage, with the tables of the payment service and what it reads of the engine's, which are installed before its first use. */
export const paymentStore = (storage: EngineStorage): EngineStore =>
  new EngineStore(storage, [...Object.values(paymentTables), watchRows]);

/** The store with the payment service's reads by name. */
export const withPaymentReads = (store: EngineStorage): PaymentStorage => ({
  ...store,
  ...paymentReads(store),
});

/** The storage with the tables of the payment service, and its reads by name. */
export const paymentStorage = (storage: EngineStorage): PaymentStorage =>
  withPaymentReads(paymentStore(storage));
