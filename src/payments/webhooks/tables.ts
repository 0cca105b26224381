/** Webhooks, the order in which notices were announced, and the deliveries of notices to webhooks with each attempt. */
import { column, ownTable, type Row } from "../../../storage/table.ts";
import {
  rowOf,
  newestFirst,
  type NewestPageQuery,
  type SequencePageQuery,
  type TableReader,
} from "../frame/tables/read.ts";

const webhooks = ownTable("webhooks", {
  columns: {
    id: "text",
    version: "integer",
    accountId: "text",
    url: "text",
    events: column<readonly string[]>("json"),
    /** The sealed secret, null when the webhook has none. */
    sealedSecret: "text?",
    /** The previous secret, and until when deliveries are also signed with it. */
    previousSealedSecret: "text?",
    previousUntil: "integer?",
    /** Since when nothing is delivered to it, and why; null while it is enabled. */
    disabledAt: "integer?",
    disabledReason: "text?",
    /** Since when it is enabled, or was last: earlier abandoned deliveries do not count. */
    enabledAt: "integer",
    createdAt: "integer",
    deletedAt: "integer?",
  },
  indexes: { ofAccount: { on: ["accountId", "createdAt", "id"], where: { deletedAt: null } } },
  group: { by: ["accountId"], open: "deletedAt" },
});

export interface WebhookRecord extends Row<typeof webhooks> {}

/**
 * Counts the changes of an account's webhooks, so that a commit can require unchanged webhooks. `id` is the account's;
 * an account that never had a webhook has no row.
 */
const webhookLists = ownTable("webhookLists", {
  columns: { id: "text", version: "integer", changedAt: "integer" },
});

/**
 * Names the notices that were announced to webhooks, in the lists of events of their accounts. `id` is the notice's. A list
 * grows at its end only, so that who reads on from where he was misses nothing.
 */
const announcements = ownTable("announcements", {
  columns: { id: "text", accountId: "text", at: "integer" },
  indexes: { ofAccount: ["accountId"] },
  // Accounts read on beyond the last event that they have seen.
  ordered: ["accountId"],
  settled: true,
});

export interface AnnouncementRecord extends Row<typeof announcements> {}

/** Notices on their way to one webhook each; one that is pending is the instance of the same id. */
const deliveries = ownTable("deliveries", {
  columns: {
    id: "text",
    /** A redelivery is begun from the one that it was decided by. */
    version: "integer",
    accountId: "text",
    webhookId: "text",
    noticeId: "text",
    transactionId: "text",
    status: column<"pending" | "delivered" | "abandoned" | "dropped">("text"),
    /** Attempts that have ended. */
    attempts: "integer",
    /** The last success of the delivery, and the last time it was abandoned; a redelivery keeps both. Null before. */
    deliveredAt: "integer?",
    abandonedAt: "integer?",
    createdAt: "integer",
  },
  // The index of a transaction's deliveries ended in times, and was twice as large.
  indexes: {
    // A delivery was committed after those of the notices before.
    ofTransaction: ["transactionId"],
    ofWebhook: ["webhookId", "createdAt", "id"],
    abandoned: { on: ["webhookId", "createdAt"], where: { status: "abandoned" } },
    lastAbandoned: { on: ["webhookId", "abandonedAt"], where: { status: "abandoned" } },
    retried: { on: ["attempts", "createdAt"], where: { status: "pending" } },
    lastDelivered: { on: ["webhookId", "deliveredAt"], present: ["deliveredAt"] },
  },
});

export interface DeliveryRecord extends Row<typeof deliveries> {}

/** Ended attempts of deliveries. `id` is `deliveryId:number`, or `task:crashed:n` of one whose process died. */
const deliveryAttempts = ownTable("deliveryAttempts", {
  columns: {
    id: "text",
    deliveryId: "text",
    number: "integer",
    startedAt: "integer",
    /** Until the answer was read, or the attempt had failed. */
    durationMs: "integer",
    /**
     * Milliseconds of each stage of opening its connection; null for a kept connection, and when no connection was
     * opened.
     */
    opening: column<{ readonly dns: number; readonly connect: number; readonly tls: number } | null>("json?"),
    /** Milliseconds from the attempt's start to the answer's status line; null when none came. */
    firstByteMs: "integer?",
    httpStatus: "integer?",
    error: "text?",
    excerpt: "text?",
  },
  // They are found by their ids, which begin with the delivery's.
  settled: true,
});

export interface DeliveryAttemptRecord extends Row<typeof deliveryAttempts> {}

export const webhookTables = { announcements, webhooks, webhookLists, deliveries, deliveryAttempts };

/** Deliveries of one webhook that are no longer tried. */
export interface AbandonedCount {
  readonly webhookId: string;
  readonly count: number;
  readonly oldest: number;
  readonly newest: number;
}

export const webhookReads = (read: TableReader) => ({
  /** An account's list of events in the order in which it grew; nothing beyond a row that is none of the account's. */
  announcements: (accountId: string, { order, beyond, limit }: SequencePageQuery) =>
    read.find({
      table: announcements,
      index: "ofAccount",
      equals: { accountId },
      order,
      limit,
      ...(beyond === null ? {} : { beyond }),
    }),
  announcement: (id: string) => rowOf(read, announcements, id),
  /** Every account's events as they were announced; nothing beyond a row that is not there. One may come up late before others. */
  announcementsInSequence: ({ order, beyond, limit }: SequencePageQuery) =>
    read.find({ table: announcements, order, limit, ...(beyond === null ? {} : { beyond }) }),
  /** A webhook, deleted ones included. */
  webhook: (id: string) => rowOf(read, webhooks, id),
  /** An account's webhooks that are not deleted, oldest first. */
  webhooks: (accountId: string) => read.find({ table: webhooks, index: "ofAccount", equals: { accountId } }),
  /** The number of changes of an account's webhooks; 0 for an account that never had a webhook. */
  webhookChanges: async (accountId: string) => (await rowOf(read, webhookLists, accountId))?.version ?? 0,
  /** The deliveries of a transaction's notices, in the order in which they were made. */
  deliveries: (transactionId: string) =>
    read.find({ table: deliveries, index: "ofTransaction", equals: { transactionId } }),
  delivery: (id: string) => rowOf(read, deliveries, id),
  /** The deliveries to a webhook, newest first. */
  deliveriesTo: (webhookId: string, page: NewestPageQuery) =>
    read.find({ table: deliveries, index: "ofWebhook", equals: { webhookId }, ...newestFirst(page) }),
  /** The ended attempts of a delivery, by number, and those of one number (its process died) by their start. */
  deliveryAttempts: (deliveryId: string) => attemptsOf(read, deliveryId),
  /** The time when a webhook last took a notice; null before its first notice. */
  async lastDeliveredAt(webhookId: string): Promise<number | null> {
    const newest = { index: "lastDelivered", equals: { webhookId }, order: "desc", limit: 1 } as const;
    const [last] = await read.find({ table: deliveries, ...newest });
    return last?.deliveredAt ?? null;
  },
  /** The number of deliveries to a webhook that were abandoned after `since` and not begun again, up to `limit`. */
  async abandonedSince(webhookId: string, since: number, limit: number): Promise<number> {
    const after = { index: "lastAbandoned", equals: { webhookId }, after: [since], limit };
    return (await read.find({ table: deliveries, ...after })).length;
  },
  /** Up to `limit` webhooks with abandoned deliveries, by webhook id: how many, and when the first and the last were made. */
  abandonedDeliveries: (limit: number) => abandonedDeliveries(read, limit),
  /** Up to `limit` deliveries that wait for their first attempt, oldest first. */
  untriedDeliveries: (limit: number) =>
    read.find({ table: deliveries, index: "retried", equals: { attempts: 0 }, limit }),
  /** Up to `limit` deliveries that no attempt has brought to their receiver so far and that are tried again. */
  retriedDeliveries: (limit: number) => read.find({ table: deliveries, index: "retried", after: [0], limit }),
});

/** A run has up to six. */
const ATTEMPTS_PAGE = 8;

async function attemptsOf(read: TableReader, deliveryId: string): Promise<readonly DeliveryAttemptRecord[]> {
  const prefix = `${deliveryId}:`;
  const found: DeliveryAttemptRecord[] = [];
  for (;;) {
    const after = [found.at(-1)?.id ?? prefix];
    const page = await read.find({ table: deliveryAttempts, index: "key", after, limit: ATTEMPTS_PAGE });
    const own = page.filter(({ id }) => id.startsWith(prefix));
    found.push(...own);
    if (own.length < ATTEMPTS_PAGE) break;
  }
  return found.toSorted((one, other) => one.number - other.number || one.startedAt - other.startedAt);
}

/** From webhook to webhook, with a few seeks for each, however many deliveries they have. */
async function abandonedDeliveries(read: TableReader, limit: number): Promise<readonly AbandonedCount[]> {
  const ofAll = { table: deliveries, index: "abandoned" } as const;
  const found: AbandonedCount[] = [];
  let [next] = await read.find({ ...ofAll, limit: 1 });
  while (next !== undefined && found.length < limit) {
    const { webhookId, createdAt: oldest } = next;
    const ofIt = { ...ofAll, equals: { webhookId } };
    const [{ count }, [newest], [following]] = await Promise.all([
      read.tally(ofIt),
      read.find({ ...ofIt, order: "desc", limit: 1 }),
      read.find({ ...ofAll, after: [webhookId], limit: 1 }),
    ]);
    if (newest !== undefined) found.push({ webhookId, count, oldest, newest: newest.createdAt });
    next = following;
  }
  return found;
}
