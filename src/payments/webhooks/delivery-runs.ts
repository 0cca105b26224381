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

/** Parts of the commit that begins a run. Of two commits that begin the same run the second is refused. */
export interface BegunRun {
  readonly start: StartRequest;
  readonly write: WebhookWrite;
}

export function deliveryIdOf(notice: Pick<NoticeRecord, "id">, webhook: Pick<WebhookRecord, "id">): string {
  return derivedId("dlv", notice.id, webhook.id);
}

export function runIdOf({ id, runs }: Pick<DeliveryRecord, "id" | "runs">): string {
  return runs === 1 ? id : `${id}:${runs}`;
}

export interface DueNotice {
  readonly notice: NoticeRecord;
  readonly webhook: Pick<WebhookRecord, "id" | "accountId">;
  /** The run before it of the same transaction's notices, which it waits for; null for the first. */
  readonly follows: string | null;
}

export function firstInput(
  { id, webhookId, noticeId, accountId }: Pick<DeliveryRecord, "id" | "webhookId" | "noticeId" | "accountId">,
  follows: string | null,
): WebhookDeliveryInput {
  return { deliveryId: id, webhookId, noticeId, accountId, follows, pausesMs: RETRY_PAUSES_MS };
}

/** The first run of a delivery that is not stored yet. */
export function firstRun(
  workflow: WebhookDeliveryWorkflow,
  { notice, webhook, follows }: DueNotice,
): BegunRun {
  const id = deliveryIdOf(notice, webhook);
  const about = { webhookId: webhook.id, noticeId: notice.id, accountId: webhook.accountId };
  const insert: DeliveryRecord = {
    id,
    ...about,
    transactionId: notice.transactionId,
    status: "pending",
    attempts: 0,
    runs: 1,
    createdAt: notice.createdAt,
    deliveredAt: null,
    abandonedAt: null,
  };
  const start = startOf(workflow, id, firstInput(insert, follows));
  return { start, write: { table: "deliveries", insert } };
}

/** Begins a new run of an ended delivery: all attempts again, with the same id and the same bytes. */
export function nextRun(
  workflow: WebhookDeliveryWorkflow,
  delivery: DeliveryRecord,
  follows: string | null,
): BegunRun {
  const { id, webhookId, noticeId, accountId, attempts: attemptsBefore } = delivery;
  const runs = delivery.runs + 1;
  const run = runIdOf({ id, runs });
  const about = { deliveryId: id, webhookId, noticeId, accountId, follows, pausesMs: RETRY_PAUSES_MS };
  return {
    start: startOf(workflow, run, { ...about, run, attemptsBefore }),
    write: { table: "deliveries", id, set: { status: "pending", runs } },
  };
}
