/** Begins deliveries: once for each notice and webhook, and again when the owner asks. */
import type { WebhookDeliveryInput } from "../../../machines/webhook-delivery.ts";
import type { NoticeRecord } from "../frame/tables/notices.ts";
import type { DeliveryRecord, WebhookRecord } from "./tables.ts";
import type { WebhookWrite } from "./webhook-storage.ts";
import { startOf, type StartRequest } from "../../engine/index.ts";
import { derivedId } from "../frame/ids.ts";
import type { WebhookDeliveryWorkflow } from "./webhook-delivery-workflow.ts";

/** Pauses between the starts of attempts: 1 min, 5 min, 15 min, 1 h, 6 h; six attempts in all. */
const RETRY_PAUSES_MS = [60_000, 300_000, 900_000, 3_600_000, 21_600_000] as const;

/** Parts of the commit that begins a run. If two commits begin the same run, the second is refused. */
export interface BegunRun {
  readonly start: StartRequest;
  readonly write: WebhookWrite;
}

export function deliveryIdOf(notice: Pick<NoticeRecord, "id">, webhook: Pick<WebhookRecord, "id">): string {
  return derivedId("dlv", notice.id, webhook.id);
}

export interface DueNotice {
  readonly notice: NoticeRecord;
  readonly webhook: Pick<WebhookRecord, "id" | "accountId">;
  /** The delivery of the notice before, of the same transaction, which it waits for; null for the first. */
  readonly follows: string | null;
}

/** The first run of a delivery that is not stored yet. */
export function firstRun(
  workflow: WebhookDeliveryWorkflow,
  { notice, webhook, follows }: DueNotice,
): BegunRun {
  const insert: DeliveryRecord = {
    id: deliveryIdOf(notice, webhook),
    version: 1,
    webhookId: webhook.id,
    noticeId: notice.id,
    accountId: webhook.accountId,
    transactionId: notice.transactionId,
    status: "pending",
    attempts: 0,
    createdAt: notice.createdAt,
    deliveredAt: null,
    abandonedAt: null,
  };
  return { start: startRun(workflow, insert, follows), write: { table: "deliveries", insert } };
}

/** Begins a new run of an ended delivery: all attempts again, with the same id and the same bytes. */
export function nextRun(
  workflow: WebhookDeliveryWorkflow,
  delivery: DeliveryRecord,
  follows: string | null,
): BegunRun {
  const { id, version: expectedVersion } = delivery;
  const write = { table: "deliveries" as const, id, set: { status: "pending" as const }, expectedVersion };
  return { start: startRun(workflow, delivery, follows), write };
}

function startRun(
  workflow: WebhookDeliveryWorkflow,
  { id, webhookId, noticeId, accountId, attempts }: DeliveryRecord,
  follows: string | null,
): StartRequest {
  const about = { deliveryId: id, webhookId, noticeId, accountId, follows };
  const before = attempts === 0 ? {} : { attemptsBefore: attempts };
  const input: WebhookDeliveryInput = { ...about, ...before, pausesMs: RETRY_PAUSES_MS };
  return startOf(workflow, id, input);
}
