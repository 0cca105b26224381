/** Webhooks of all accounts, and the ladder of attempts of each delivery. */
// modules: webhooks
import type { InspectedStorage } from "../../engine/inspected-engine.ts";
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import type { NoticeRecord } from "../../payments/frame/tables/notices.ts";
import type { DeliveryAttemptRecord, DeliveryRecord, WebhookRecord } from "../../payments/webhooks/tables.ts";
import type { SecretFilter } from "../show-values.ts";
import type { TimelineCall } from "./module-view.ts";

/** A webhook with how it goes. */
export interface WebhookStatus {
  readonly webhook: WebhookRecord;
  readonly lastDeliveredAt: number | null;
  /** Deliveries that are no longer tried. */
  readonly abandoned: number;
}

/** A delivery with its attempts, and the time of the next attempt. */
export interface DeliveryHistory {
  readonly delivery: DeliveryRecord;
  readonly notice: NoticeRecord | null;
  readonly attempts: readonly DeliveryAttemptRecord[];
  readonly nextAt: number | null;
}

const MAX_ACCOUNTS = 200;
const MAX_LADDERS = 25;
const MAX_PENDING = 20;
const MAX_WEBHOOKS = 1_000;

export async function readWebhooks({ reads }: InspectedPaymentParts): Promise<WebhookStatus[]> {
  const accounts = await reads.accountsAfter("", MAX_ACCOUNTS);
  const abandoned = new Map(
    (await reads.abandonedDeliveries(MAX_WEBHOOKS)).map(({ webhookId, count }) => [webhookId, count]),
  );
  const found = await Promise.all(accounts.map(({ id }) => reads.webhooks(id)));
  return Promise.all(
    found.flat().map(async (webhook) => ({
      webhook,
      lastDeliveredAt: await reads.lastDeliveredAt(webhook.id),
      abandoned: abandoned.get(webhook.id) ?? 0,
    })),
  );
}

/** The newest deliveries to a webhook. */
export async function readLadders(
  { reads }: InspectedPaymentParts,
  storage: Pick<InspectedStorage, "tasks">,
  webhookId: string,
): Promise<DeliveryHistory[]> {
  const deliveries = await reads.deliveriesTo(webhookId, { below: null, limit: MAX_LADDERS });
  return Promise.all(deliveries.map((delivery) => readLadder({ reads }, storage, delivery)));
}

export async function readLadder(
  { reads }: Pick<InspectedPaymentParts, "reads">,
  storage: Pick<InspectedStorage, "tasks">,
  delivery: DeliveryRecord,
): Promise<DeliveryHistory> {
  const [notice, attempts, tasks] = await Promise.all([
    reads.notice(delivery.noticeId),
    reads.deliveryAttempts(delivery.id),
    storage.tasks({ order: "instance", instance: delivery.id, limit: MAX_PENDING }),
  ]);
  const due = tasks.filter(({ deadAt }) => deadAt === null).map(({ dueAt }) => dueAt);
  return { delivery, notice, attempts, nextAt: due.length === 0 ? null : Math.min(...due) };
}

const MAX_DELIVERIES = 50;

/** Reads the delivery attempts of an order, or of a single delivery when `only` names it. */
export async function readDeliveries(
  { reads }: InspectedPaymentParts,
  transactionId: string,
  { only, redact }: { readonly only: string | null; readonly redact: SecretFilter },
): Promise<readonly TimelineCall[]> {
  const deliveries = (await reads.deliveries(transactionId)).filter(({ id }) => only === null || id === only);
  const lines = await Promise.all(
    deliveries.slice(-MAX_DELIVERIES).map(async ({ id, noticeId }) => {
      const [notice, attempts] = await Promise.all([reads.notice(noticeId), reads.deliveryAttempts(id)]);
      return attempts.map((attempt) => ({
        instance: id,
        of: notice?.event ?? "a notice",
        ...lineOf(attempt, redact),
      }));
    }),
  );
  return lines.flat();
}

function lineOf(attempt: DeliveryAttemptRecord, redact: SecretFilter): Omit<TimelineCall, "instance" | "of"> {
  const { number, startedAt, durationMs, httpStatus } = attempt;
  return {
    number,
    words: `webhook attempt ${number} of`,
    at: startedAt,
    durationMs,
    outcome: redact(outcomeOf(attempt)),
    isGood: httpStatus !== null && httpStatus >= 200 && httpStatus < 300,
  };
}

/** The answer or the error of an attempt in words. It may hold what a receiver wrote. */
export function outcomeOf({ httpStatus, error }: DeliveryAttemptRecord): string {
  if (httpStatus === null) return error ?? "no answer";
  return error === null ? `answered ${httpStatus}` : `answered ${httpStatus}: ${error}`;
}
