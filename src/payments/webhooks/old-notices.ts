/** Removes notices of transactions that are over, with their deliveries: they go together, or not at all. */
import type { NoticeRecord } from "../frame/tables/notices.ts";
import type { DeliveryRecord } from "./tables.ts";
import type { WebhookStorage, WebhookWrite } from "./webhook-storage.ts";
import { archivedRows, type ArchivedRow, type Removal, isOver } from "../frame/retention/removal.ts";
import type { OldRowRule } from "../frame/retention/old-rows.ts";

export function oldNotices(storage: WebhookStorage, keepMs: number | null): OldRowRule<NoticeRecord> {
  return {
    name: "notices",
    keepMs,
    page: (after, limit) => storage.noticesAfter(after?.id ?? "", limit),
    async look(notice, until) {
      const removal = await noticeRemoval(storage, notice, until);
      return removal === null ? "later" : { before: [], removal: async () => removal };
    },
  };
}

/**
 * Null while one of its deliveries is under way or young, or still to begin, while its transaction may tell more, and while one of its
 * deliveries is the last that a webhook has taken: by that it is known whether the webhook still receives anything.
 */
async function noticeRemoval(
  storage: WebhookStorage,
  notice: NoticeRecord,
  until: number,
): Promise<Removal | null> {
  const { id, transactionId, createdAt, body } = notice;
  // Without a body it is not announced yet.
  if (body === null || createdAt > until || !(await isOver(storage, transactionId))) return null;
  // A task may have its deliveries to begin; timers of an order that is over run for months, and begin none.
  const order = "instance";
  const waiting = await storage.tasks({ order, instance: transactionId, limit: 1, except: "timer" });
  if (waiting.length > 0) return null;
  const deliveries = (await storage.deliveries(transactionId)).filter(({ noticeId }) => noticeId === id);
  const parts = await Promise.all(deliveries.map((delivery) => deliveryRemoval(storage, delivery, until)));
  const whole = parts.filter((part) => part !== null);
  if (whole.length < parts.length) return null;
  const own: readonly WebhookWrite[] = [
    { table: "notices", remove: id },
    { table: "announcements", remove: id },
  ];
  return {
    removes: whole.flatMap(({ removes }) => removes),
    writes: [...own, ...whole.flatMap(({ writes }) => writes)],
    rows: [...archivedRows("notices", [notice]), ...whole.flatMap(({ rows }) => rows)],
  };
}

async function deliveryRemoval(
  storage: WebhookStorage,
  delivery: DeliveryRecord,
  until: number,
): Promise<Removal | null> {
  const { id, version, webhookId, status, deliveredAt, abandonedAt } = delivery;
  const endedAt = Math.max(deliveredAt ?? 0, abandonedAt ?? 0);
  if (status === "pending" || endedAt > until) return null;
  if (deliveredAt !== null && (await isLastTaken(storage, webhookId, deliveredAt))) return null;
  const attempts = await storage.deliveryAttempts(id);
  const rows: readonly ArchivedRow[] = [
    ...archivedRows("deliveries", [delivery]),
    ...archivedRows("deliveryAttempts", attempts),
  ];
  const writes: readonly WebhookWrite[] = [
    // Refused where it was begun once more meanwhile.
    { table: "deliveries", remove: id, expected: { version } },
    ...attempts.map((attempt) => ({ table: "deliveryAttempts" as const, remove: attempt.id })),
  ];
  return { removes: [], writes, rows };
}

/** A webhook that is deleted receives nothing any more. */
async function isLastTaken(
  storage: WebhookStorage,
  webhookId: string,
  deliveredAt: number,
): Promise<boolean> {
  const webhook = await storage.webhook(webhookId);
  if (webhook === null || webhook.deletedAt !== null) return false;
  return (await storage.lastDeliveredAt(webhookId)) === deliveredAt;
}

/** The removals of a transaction's notices; null while one of them has to stay. */
export async function noticeRemovals(
  storage: WebhookStorage,
  transactionId: string,
  until: number,
): Promise<readonly Removal[] | null> {
  const told = await storage.notices(transactionId);
  const notices = await Promise.all(told.map((each) => noticeRemoval(storage, each, until)));
  const whole = notices.filter((removal) => removal !== null);
  return whole.length < notices.length ? null : whole;
}
