/** A delivery and its attempts as the webhook's owner sees them. */
import type { DeliveryAttemptRecord, DeliveryRecord } from "./records.ts";
import type { PaymentStorage } from "./payment-storage.ts";
import { isoTime } from "./iso-time.ts";
import { shownError } from "./shown-error.ts";

/** One ended attempt. */
export interface DeliveryAttemptBody {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  /** Null when no answer came. */
  readonly httpStatus: number | null;
  /** Null when it was delivered. */
  readonly error: string | null;
  /** The beginning of the answer's body. */
  readonly excerpt: string | null;
}

/** One notice on its way to one webhook. */
export interface DeliveryBody {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: string;
  readonly transactionId: string;
  /** `dropped`: the webhook was deleted or disabled before it was due. */
  readonly status: "pending" | "delivered" | "abandoned" | "dropped";
  readonly createdAt: string;
  /** Those that have ended, in their order. */
  readonly attempts: readonly DeliveryAttemptBody[];
}

export async function deliveryBody(storage: PaymentStorage, delivery: DeliveryRecord): Promise<DeliveryBody> {
  const { id, webhookId, noticeId, transactionId, status, createdAt } = delivery;
  const [notice, attempts] = await Promise.all([storage.notice(noticeId), storage.deliveryAttempts(id)]);
  return {
    ...{ deliveryId: id, webhookId, eventId: noticeId, event: notice?.event ?? "", transactionId },
    ...{ status, createdAt: isoTime(createdAt), attempts: attempts.map(attemptBody) },
  };
}

function attemptBody({
  number,
  startedAt,
  durationMs,
  httpStatus,
  error,
  excerpt,
}: DeliveryAttemptRecord): DeliveryAttemptBody {
  const told = { durationMs, httpStatus, error: shownError(error), excerpt };
  return { number, startedAt: isoTime(startedAt), ...told };
}
