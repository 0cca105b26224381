/** A storage as the payment service sees it: its own writes, and its reads by name. */
import type { Address } from "../address.ts";
import type { Commit, CommitAnswer, EngineStorage, Write } from "../../storage/storage.ts";
import type {
  AccountRecord,
  AnnouncementRecord,
  ApiKeyRecord,
  AttemptRecord,
  AuditRecord,
  DecisionRecord,
  DeliveryAttemptRecord,
  DeliveryRecord,
  DepositRecord,
  EntryRecord,
  GateRecord,
  IdempotencyRecord,
  LifeRecord,
  MatterRecord,
  NoticeRecord,
  PaymentRecord,
  PaymentTables,
  QuoteRecord,
  RecipientRecord,
  ReservationRecord,
  SpendingRecord,
  TransactionRecord,
  TransactionStatus,
  VouchingRecord,
  WebhookRecord,
} from "./records.ts";

/** A write to one of the payment tables. */
export type PaymentWrite = Write<PaymentTables>;

/** A transaction with everything its readers are shown. */
export interface TransactionView {
  readonly transaction: TransactionRecord;
  /** Ordered by index. */
  readonly recipients: readonly RecipientRecord[];
  /** What the service itself signed for it, oldest first. */
  readonly payments: readonly PaymentRecord[];
}

/** A place in a list that is ordered by creation, and where that is the same by id. */
export interface Place {
  readonly createdAt: number;
  readonly id: string;
}

/** A part of a list that begins with the newest: up to `limit` rows that stand below a place, or from the top. */
export interface NewestFirst {
  readonly below: Place | null;
  readonly limit: number;
}

/** A part of a list that is distinguished by the order in which it grew: up to `limit` rows beyond one of them. */
export interface InSequence {
  readonly order: "asc" | "desc";
  /** The id of a row, null to begin at the end that `order` begins with. */
  readonly beyond: string | null;
  readonly limit: number;
}

/** What narrows a list of transactions; each has an index of its own. */
export type TransactionLookup =
  | { readonly status: TransactionStatus }
  | { readonly reference: string }
  /** One of the recipients' addresses. */
  | { readonly recipient: Address };

/** Deliveries of one webhook that are no longer tried. */
export interface AbandonedDeliveries {
  readonly webhookId: string;
  readonly count: number;
  readonly oldest: number;
  readonly newest: number;
}

/** What the payment service asks of its tables. */
export interface PaymentReads {
  fact(id: string): Promise<string | null>;
  /** The life of the database that goes on, or was the last; null before the first. */
  newestLife(): Promise<LifeRecord | null>;
  /** The lives of the database, oldest first, 200 at most. */
  lives(): Promise<readonly LifeRecord[]>;
  /** A key by its public id, with the account it belongs to. */
  apiKey(id: string): Promise<{ readonly key: ApiKeyRecord; readonly account: AccountRecord } | null>;
  account(id: string): Promise<AccountRecord | null>;
  /** Up to `limit` accounts by ascending id, which is the order in which they were made, the first one above `after`. */
  accountsAfter(after: string, limit: number): Promise<readonly AccountRecord[]>;
  /** An account's keys, revoked and expired ones included, oldest first. */
  apiKeysOf(accountId: string): Promise<readonly ApiKeyRecord[]>;
  quote(id: string): Promise<QuoteRecord | null>;
  transaction(id: string): Promise<TransactionView | null>;
  /** An account's transactions, newest first, filtered by `only`. */
  transactionsOf(
    accountId: string,
    only: TransactionLookup | null,
    page: NewestFirst,
  ): Promise<readonly TransactionRecord[]>;
  /** Every account's transactions, by id from `after` on; the empty string is before the first. */
  transactionsAfter(after: string, limit: number): Promise<readonly TransactionRecord[]>;
  /** Deposit addresses by themselves, in any order; what is none of ours is left out. */
  deposits(addresses: readonly string[]): Promise<readonly DepositRecord[]>;
  /** Up to `limit` deposit addresses by ascending id, the first one above `after`: all of them, page by page. */
  depositsAfter(after: string, limit: number): Promise<readonly DepositRecord[]>;
  /** The ledger of a deposit address, oldest first. */
  entries(address: string): Promise<readonly EntryRecord[]>;
  /** What operators have vouched for at a deposit address, the oldest word first. */
  vouchings(address: string): Promise<readonly VouchingRecord[]>;
  /** Every transaction of an address that this database did not know of when a node listed it. */
  unknownSignatures(address: string): Promise<readonly string[]>;
  payment(id: string): Promise<PaymentRecord | null>;
  /** What is promised of a resource and not released, oldest first. */
  reservations(resource: string): Promise<readonly ReservationRecord[]>;
  /** One reservation, released or not. */
  reservation(id: string): Promise<ReservationRecord | null>;
  /** Up to `limit` of those that lapse by themselves and are not released, the first one to lapse first. */
  lapsing(resource: string, limit: number): Promise<readonly ReservationRecord[]>;
  /** Attempts by their signatures, in any order; unknown ones are left out. */
  attempts(signatures: readonly string[]): Promise<readonly AttemptRecord[]>;
  /** The attempt with this signature or this message hash. */
  attemptLike(signature: string, messageHash: string): Promise<AttemptRecord | null>;
  idempotency(id: string): Promise<IdempotencyRecord | null>;
  notice(id: string): Promise<NoticeRecord | null>;
  /** All notices of a transaction, oldest first. */
  notices(transactionId: string): Promise<readonly NoticeRecord[]>;
  /** Every account's notices as they were written; nothing beyond a row that is not there. One may come up late before others. */
  noticesInSequence(page: InSequence): Promise<readonly NoticeRecord[]>;
  /** An account's list of events in the order in which it grew; nothing beyond a row that is none of the account's. */
  announcements(accountId: string, page: InSequence): Promise<readonly AnnouncementRecord[]>;
  /** One webhook, deleted ones included. */
  webhook(id: string): Promise<WebhookRecord | null>;
  /** An account's webhooks that are not deleted, oldest first. */
  webhooks(accountId: string): Promise<readonly WebhookRecord[]>;
  /** How often an account's webhooks were changed; 0 for an account that never had one. */
  webhookChanges(accountId: string): Promise<number>;
  /** The deliveries of a transaction's notices, oldest first. */
  deliveries(transactionId: string): Promise<readonly DeliveryRecord[]>;
  delivery(id: string): Promise<DeliveryRecord | null>;
  /** The deliveries to a webhook, newest first. */
  deliveriesTo(webhookId: string, page: NewestFirst): Promise<readonly DeliveryRecord[]>;
  /** When a webhook last took a notice; null when it never has. */
  lastDeliveredAt(webhookId: string): Promise<number | null>;
  /** How many of a webhook's deliveries were abandoned after `since` and not begun once more, counted up to `limit`. */
  abandonedSince(webhookId: string, since: number, limit: number): Promise<number>;
  /** The ended attempts of a delivery, by number, and those of one number (its process died) by their start. */
  deliveryAttempts(deliveryId: string): Promise<readonly DeliveryAttemptRecord[]>;
  /** Rows of a sliding window with `at > since`: how many, and when the oldest of them was. */
  limitWindow(
    accountId: string,
    scope: string,
    since: number,
  ): Promise<{ readonly count: number; readonly oldest: number | null }>;

  /** What a purse has spent after `since`, oldest first. */
  spendings(purse: string, since: number): Promise<readonly SpendingRecord[]>;
  /** Gates by their ids, in any order; absent ones are left out. */
  gates(ids: readonly string[]): Promise<readonly GateRecord[]>;
  /** Up to `limit` gates by ascending id, the first one above `after`. */
  gatesAfter(after: string, limit: number): Promise<readonly GateRecord[]>;
  /** Up to `limit` deposit addresses that are held, written off or not, the oldest address first; behind `last` where it is given. */
  heldDeposits(
    limit: number,
    last?: Pick<DepositRecord, "createdAt" | "id">,
  ): Promise<readonly DepositRecord[]>;
  /** Up to `limit` webhooks with abandoned deliveries, by webhook id: how many, and when the first and the last were made. */
  abandonedDeliveries(limit: number): Promise<readonly AbandonedDeliveries[]>;
  /** Up to `limit` deliveries that wait for their first attempt, oldest first. */
  untriedDeliveries(limit: number): Promise<readonly DeliveryRecord[]>;
  /** Up to `limit` deliveries that no attempt has brought to their receiver so far and that are tried again. */
  retriedDeliveries(limit: number): Promise<readonly DeliveryRecord[]>;
  /** Matters by their ids, in any order; absent ones are left out. */
  matters(ids: readonly string[]): Promise<readonly MatterRecord[]>;
  /** Up to `limit` matters that are not reported as over, the oldest first. */
  openMatters(limit: number): Promise<readonly MatterRecord[]>;
  /** What operators have decided about a matter; null while nothing was. */
  decision(id: string): Promise<DecisionRecord | null>;
  /** The sum of a scope's volumes with `at > since`. */
  volume(scope: string, since: number): Promise<bigint>;
  /**
   * The operators' acts in the order in which they were committed: up to `limit`, from the one that follows the row with
   * the id `after`, or from the first. Null when there is no such row.
   */
  audit(after: string | null, limit: number): Promise<readonly AuditRecord[] | null>;
}

/** A storage with the tables of the payment service. */
export interface PaymentStorage extends EngineStorage, PaymentReads {
  commit(items: readonly Commit<PaymentTables>[]): Promise<readonly CommitAnswer[]>;
}
