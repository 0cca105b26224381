/** The effects and rows of the chart `webhook-delivery`: one attempt is one effect, at most four at a time for a webhook, and eight for all webhooks of an account. */
import {
  webhookDelivery,
  type WebhookAttempt,
  type WebhookDeliveryEvent,
} from "../../../machines/webhook-delivery.ts";
import type { WebhookTables, WebhookStorage, WebhookWrite } from "./webhook-storage.ts";
import type { DeliveryAttemptRecord, DeliveryRecord } from "./tables.ts";
import { workflow, type EffectOutcome, type EffectRun, type Workflow } from "../../engine/index.ts";
import type { Clock } from "../../core/runtime.ts";
import type { AttemptError, AttemptResult, DeliveryClient } from "./sending/attempt.ts";
import { signatureHeaders } from "./sending/signature.ts";
import { keepingOpened, type SecretBox } from "../frame/secrets/secret-box.ts";
import { secretsOf } from "./webhook-secret.ts";
import { webhookListChange } from "./webhook-list.ts";

export type WebhookDeliveryWorkflow = Workflow<typeof webhookDelivery, WebhookTables>;

/** Limits, so that a slow receiver, or an account with many webhooks, delays nobody else. */
const MAX_IN_FLIGHT_PER_WEBHOOK = 4;
const MAX_IN_FLIGHT_PER_ACCOUNT = 8;

/** Changes to the row of an ended delivery, by the final state of the machine. */
const ENDS: Readonly<Partial<Record<string, (at: number) => Partial<DeliveryRecord>>>> = {
  delivered: (deliveredAt) => ({ status: "delivered", deliveredAt }),
  abandoned: (abandonedAt) => ({ status: "abandoned", abandonedAt }),
  dropped: () => ({ status: "dropped" }),
};

interface DeliveringParts {
  readonly storage: WebhookStorage;
  readonly clock: Clock;
  readonly delivery: DeliveryClient;
  readonly sealing: SecretBox;
  readonly disableAfter: DisableRule | "never";
}

export function webhookDeliveryWorkflow(given: DeliveringParts): WebhookDeliveryWorkflow {
  const parts = { ...given, sealing: keepingOpened(given.sealing) };
  return workflow(webhookDelivery)<WebhookTables>({
    version: 1,
    // The row and the attempts of an ended delivery tell everything.
    keepEnded: false,
    effects: {
      attempt: {
        limit: ({ webhookId, accountId }) => [
          { key: accountId, atMost: MAX_IN_FLIGHT_PER_ACCOUNT },
          { key: webhookId, atMost: MAX_IN_FLIGHT_PER_WEBHOOK },
        ],
        run: (due, run) => makeAttempt(parts, due, run),
      },
      giveUp: async ({ webhookId }) => ({
        event: { type: "GIVEN_UP" },
        writes: await disablingWrites(parts, webhookId),
      }),
    },
    project: ({ before, after }, at) => {
      const { deliveryId: id, attempts, attemptsBefore = 0 } = after.context;
      const end = ENDS[String(after.value)]?.(at);
      if (before === null || (end === undefined && before.context.attempts === attempts)) return [];
      const set = { status: "pending" as const, ...end, attempts: attemptsBefore + attempts };
      return [{ table: "deliveries", id, set }];
    },
  });
}

/** Makes one attempt, and records the attempt together with crashed earlier attempts. */
async function makeAttempt(
  { storage, clock, sealing, delivery }: DeliveringParts,
  { deliveryId, webhookId, noticeId, number }: WebhookAttempt,
  { key, signal, dueAt, crashes }: EffectRun,
): Promise<EffectOutcome<WebhookDeliveryEvent, WebhookTables>> {
  const [webhook, notice] = await Promise.all([storage.webhook(webhookId), storage.notice(noticeId)]);
  const crashed = crashedAttempts({ deliveryId, number, startedAt: dueAt }, { key, crashes });
  const isGone = webhook === null || webhook.deletedAt !== null || webhook.disabledAt !== null;
  // A notice is absent whose transaction was over long ago: it was removed while somebody asked for it once more.
  if (isGone || notice === null) return { event: { type: "WEBHOOK_GONE" }, writes: crashed };
  if (notice.body === null) throw new Error(`notice ${noticeId} has no body`);
  const { url } = webhook;
  const startedAt = clock.now();
  const headers = signatureHeaders({
    body: notice.body,
    ...secretsOf(sealing, webhook, startedAt),
    noticeId,
    timestampSeconds: Math.floor(startedAt / 1_000),
  });
  const result = await delivery.attempt({ url, body: notice.body, headers, signal });
  // A wall clock may be set back meanwhile.
  const durationMs = Math.max(0, clock.now() - startedAt);
  const insert = { ...endedAttempt({ deliveryId, number, startedAt }, result), durationMs };
  return {
    event: result.ok ? { type: "DELIVERED" } : { type: "ATTEMPT_FAILED", durationMs },
    writes: [...crashed, { table: "deliveryAttempts", insert }],
  };
}

/** The row of an attempt that has ended, but for how long it took in all. */
function endedAttempt(
  attempt: Pick<DeliveryAttemptRecord, "deliveryId" | "number" | "startedAt">,
  { httpStatus, error, excerpt, opening, durationMs: untilAnswer }: AttemptResult,
): Omit<DeliveryAttemptRecord, "durationMs"> {
  const firstByteMs = httpStatus === null ? null : untilAnswer;
  const id = `${attempt.deliveryId}:${attempt.number}`;
  return { ...attempt, id, opening, firstByteMs, httpStatus, error, excerpt };
}

/**
 * Why an attempt is logged as failed; `crashed` is logged by the process that repeats an attempt of a vanished process.
 */
type LoggedError = AttemptError | "crashed";

/**
 * Attempts whose process vanished before recording them, recorded by the process that repeats the attempt. The receiver
 * may have got the notice each time. The start of such an attempt is unknown; only its due time is known. The webhook may be gone by then: a redelivery makes the attempt of this number anew,
 * and may crash too.
 */
function crashedAttempts(
  attempt: Pick<DeliveryAttemptRecord, "deliveryId" | "number" | "startedAt">,
  { key, crashes }: Pick<EffectRun, "key" | "crashes">,
): readonly WebhookWrite[] {
  const error: LoggedError = "crashed";
  return Array.from({ length: crashes }, (_, index) => {
    // The key begins with the delivery's id.
    const id = `${key}:${error}:${index + 1}`;
    const unknown = { opening: null, firstByteMs: null, httpStatus: null, excerpt: null };
    return { table: "deliveryAttempts", insert: { ...attempt, id, durationMs: 0, ...unknown, error } };
  });
}

/** Conditions to disable a webhook: both have to be true. */
export interface DisableRule {
  /** This many deliveries were abandoned since the last success. */
  readonly abandoned: number;
  /** No delivery succeeded for this many milliseconds. */
  readonly undeliveredMs: number;
}

/** Dependencies of disabling. */
interface Disabling {
  readonly storage: Pick<WebhookStorage, "webhook" | "webhookChanges" | "lastDeliveredAt" | "abandonedSince">;
  readonly clock: Clock;
  readonly disableAfter: DisableRule | "never";
}

const DISABLED_AFTER_FAILURES = "disabled_after_failures";

/**
 * Further writes of the commit that abandons a delivery. Deliveries abandoned before the last success, or before the
 * webhook was last enabled, do not count. The write expects the version of the webhook that was read: when its owner
 * changes the webhook meanwhile, or a different delivery disables it, the commit is refused and decided again.
 */
async function disablingWrites(
  { storage, clock, disableAfter }: Disabling,
  webhookId: string,
): Promise<readonly WebhookWrite[]> {
  if (disableAfter === "never") return [];
  const webhook = await storage.webhook(webhookId);
  if (webhook === null || webhook.deletedAt !== null || webhook.disabledAt !== null) return [];
  const deliveredAt = await storage.lastDeliveredAt(webhookId);
  const since = Math.max(webhook.enabledAt, deliveredAt ?? 0);
  const now = clock.now();
  if (now - since < disableAfter.undeliveredMs) return [];
  // The one that is being abandoned is not counted yet.
  const others = disableAfter.abandoned - 1;
  if (others > 0 && (await storage.abandonedSince(webhookId, since, others)) < others) return [];
  const set = { disabledAt: now, disabledReason: DISABLED_AFTER_FAILURES };
  const change = await webhookListChange(storage, webhook.accountId, now);
  return [{ table: "webhooks", id: webhookId, set, expectedVersion: webhook.version }, change];
}
