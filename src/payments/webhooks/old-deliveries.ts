/** The dependents of an old notice: its place in the list of events, its deliveries and their attempts. */
import type { NoticeRecord } from "../frame/tables/notices.ts";
import type { GoesWithNotice } from "../frame/retention/old-notices.ts";
import { archivedRows, type ArchivedRow, type Removal } from "../frame/retention/removal.ts";
import { deliveryIdOf } from "./delivery-runs.ts";
import type { DeliveryRecord } from "./tables.ts";
import type { WebhookStorage, WebhookWrite } from "./webhook-storage.ts";

/**
 * Null while one of its deliveries is under way or young, or still to begin, and while one of its deliveries is the last that a
 * webhook has taken: by that it is known whether the webhook still receives anything.
 */
export function goesWithNotice(storage: WebhookStorage): GoesWithNotice {
  return (notice, until) => deliveriesRemoval(storage, notice, until);
}

async function deliveriesRemoval(
  storage: WebhookStorage,
  { id, transactionId, body }: NoticeRecord,
  until: number,
): Promise<Removal | null> {
  // Without a body it is not announced yet.
  if (body === null) return null;
  const deliveries = (await storage.deliveries(transactionId)).filter(({ noticeId }) => noticeId === id);
  const parts = await Promise.all(deliveries.map((delivery) => deliveryRemoval(storage, delivery, until)));
  const whole = parts.filter((part) => part !== null);
  if (whole.length < parts.length) return null;
  const place: WebhookWrite = { table: "announcements", remove: id };
  const others = await notBegun(storage, id, deliveries);
  return {
    removes: [],
    writes: [place, ...others, ...whole.flatMap(({ writes }) => writes)],
    rows: whole.flatMap(({ rows }) => rows),
  };
}

/** Refused where a webhook has begun to recover the notice meanwhile, which it did not receive before. */
async function notBegun(
  storage: WebhookStorage,
  id: string,
  deliveries: readonly DeliveryRecord[],
): Promise<readonly WebhookWrite[]> {
  const place = await storage.announcement(id);
  const webhooks = place === null ? [] : await storage.webhooks(place.accountId);
  const others = webhooks.filter((webhook) => deliveries.every(({ webhookId }) => webhookId !== webhook.id));
  return others.map((webhook) => ({
    table: "deliveries",
    id: deliveryIdOf({ id }, webhook),
    expectVersion: 0,
  }));
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
