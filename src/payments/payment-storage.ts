/**
 * A storage as the service sees it: with the frame's tables and reads, and those of every module. A module that has tables
 * has one line in each list here, as in modules.ts.
 */
import type { Commit, CommitAnswer, EngineStorage, Write } from "../../storage/storage.ts";
import { EngineStore } from "../engine/kernel/engine-store.ts";
import { watchRows } from "../workflow/watch-rows.ts";
import type { Assets } from "./frame/assets/assets.ts";
import { frameReads } from "./frame/frame-storage.ts";
import { frameTables, type RowsOf } from "./frame/tables.ts";
import type { ServiceContext } from "./frame/service-context.ts";
import type { TableReader } from "./frame/tables/read.ts";
import { privateReads, privateTables } from "./private/tables.ts";
import { webhookReads, webhookTables } from "./webhooks/tables.ts";

/** In the order in which they are installed. */
export const paymentTables = {
  ...frameTables,
  ...privateTables,
  ...webhookTables,
};

const paymentReads = (read: TableReader) => ({
  ...frameReads(read),
  ...privateReads(read),
  ...webhookReads(read),
});

export type TableName = keyof typeof paymentTables;

export type PaymentTables = RowsOf<typeof paymentTables>;

export type PaymentWrite = Write<PaymentTables>;

/** Reads of the payment service's tables. */
export type PaymentReads = Readonly<ReturnType<typeof paymentReads>>;

/** A storage with the tables of the payment service. */
export interface PaymentStorage extends EngineStorage, PaymentReads {
  commit(items: readonly Commit<PaymentTables>[]): Promise<readonly CommitAnswer[]>;
}

/**
 * The way to a storage: the tables of the payment service are installed before its first use, with the reads of the engine's.
 */
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

/** The inspector's reads: the service's tables, and what its amounts are of. */
export interface InspectedPaymentParts {
  readonly reads: PaymentReads;
  readonly assets: Pick<Assets, "ofMint">;
}

/** The context of the service with every module's tables. */
export interface PaymentContext extends ServiceContext<PaymentStorage> {}
