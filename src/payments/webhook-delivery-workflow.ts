/** `webhook-delivery` acted out: one attempt is one effect, at most four at a time per webhook. */
import { webhookDelivery } from "../../machines/webhook-delivery.ts";
import type { DeliveryAttemptRecord, DeliveryRecord, PaymentTables } from "./records.ts";
import type { PaymentStorage, PaymentWrite } from "./payment-storage.ts";
import { workflow } from "../engine/index.ts";
import type { Workflow } from "../engine/index.ts";
import type { Clock } from "../runtime.ts";
import type { AttemptError, AttemptResult, Delivery } from "../webhooks/attempt.ts";
import { signatureHeaders } from "../webhooks/signature.ts";
import type { Sealing } from "./sealing.ts";
import { secretsOf } from "./webhook-secret.ts";

/** The registered chart of deliveries. */
export type WebhookDeliveryWorkflow = Workflow<typeof webhookDelivery, PaymentTables>;

/** One slow receiver delays nobody else (CONTRACT section 6). */
const IN_FLIGHT_PER_WEBHOOK = 4;

const STATUS_OF_STATE: Readonly<Partial<Record<string, DeliveryRecord["status"]>>> = {
  delivered: "delivered",
  abandoned: "abandoned",
  dropped: "dropped",
};

export function webhookDeliveryWorkflow({
  storage,
  clock,
  delivery,
  sealing,
}: {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  readonly delivery: Delivery;
  readonly sealing: Sealing;
}): WebhookDeliveryWorkflow {
  return workflow(webhookDelivery)<PaymentTables>({
    version: 1,
    effects: {
      attempt: {
        lane: ({ webhookId }) => ({ key: webhookId, cap: IN_FLIGHT_PER_WEBHOOK }),
        run: async ({ deliveryId, webhookId, noticeId, number }, { signal, dueAt, crashes }) => {
          const [webhook, notice] = await Promise.all([storage.webhook(webhookId), storage.notice(noticeId)]);
          const crashed = crashedAttempts({ deliveryId, number, startedAt: dueAt }, crashes);
          if (webhook === null || webhook.deletedAt !== null || webhook.disabledAt !== null) {
            return { event: { type: "WEBHOOK_GONE" }, writes: crashed };
          }
          if (notice === null || notice.body === null) throw new Error(`notice ${noticeId} has no body`);
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
        },
      },
    },
    project: ({ before, after }) =>
      before === null ||
      (before.context.attempts === after.context.attempts &&
        STATUS_OF_STATE[String(after.value)] === undefined)
        ? []
        : [
            {
              table: "deliveries",
              id: after.context.deliveryId,
              set: {
                status: STATUS_OF_STATE[String(after.value)] ?? "pending",
                attempts: (after.context.attemptsBefore ?? 0) + after.context.attempts,
              },
            },
          ],
  });
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

/** Why an attempt is logged as failed; `crashed` is said by the process that found what another left behind. */
type LoggedError = AttemptError | "crashed";

/**
 * Attempts whose process vanished before it could record them, logged by the one that makes the attempt again. The
 * receiver may have been sent the notice each time. When an attempt began died with it: what is known is when it was due.
 */
function crashedAttempts(
  attempt: Pick<DeliveryAttemptRecord, "deliveryId" | "number" | "startedAt">,
  crashes: number,
): readonly PaymentWrite[] {
  const error: LoggedError = "crashed";
  return Array.from({ length: crashes }, (_, index) => {
    const id = `${attempt.deliveryId}:${attempt.number}:${error}:${index + 1}`;
    const unknown = { opening: null, firstByteMs: null, httpStatus: null, excerpt: null };
    return { table: "deliveryAttempts", insert: { ...attempt, id, durationMs: 0, ...unknown, error } };
  });
}
