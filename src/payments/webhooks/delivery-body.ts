/** A delivery and its attempts as the webhook's owner sees them. */
import type { DeliveryAttemptRecord, DeliveryRecord } from "../tables/webhooks.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import { isoTime } from "../iso-time.ts";
import type { AttemptError } from "./sending/attempt.ts";

/** Phases of an attempt, in milliseconds. */
export interface AttemptPhasesBody {
  /** Looking up the name. This and the next two are null where a kept connection served, and where none was opened. */
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From the attempt's start to the answer's status line, opening the connection included; null when no answer came. */
  readonly firstByteMs: number | null;
}

/** An ended attempt. */
export interface DeliveryAttemptBody {
  readonly number: number;
  readonly startedAt: string;
  /** Until the answer was read, or the attempt had failed. */
  readonly durationMs: number;
  readonly phases: AttemptPhasesBody;
  /** Null when no answer came. */
  readonly httpStatus: number | null;
  /** Null when it was delivered. */
  readonly error: string | null;
  /** The beginning of the answer's body. */
  readonly excerpt: string | null;
}

/** The delivery of a notice to a webhook. */
export interface DeliveryBody {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly event: string;
  readonly transactionId: string;
  /** `dropped`: the webhook was deleted or disabled before it was due. */
  readonly status: "pending" | "delivered" | "abandoned" | "dropped";
  readonly createdAt: string;
  /** Attempts that have ended, in order. */
  readonly attempts: readonly DeliveryAttemptBody[];
}

export async function deliveryBody(storage: PaymentStorage, delivery: DeliveryRecord): Promise<DeliveryBody> {
  const { id, webhookId, noticeId, transactionId, status, createdAt } = delivery;
  const [notice, attempts] = await Promise.all([storage.notice(noticeId), storage.deliveryAttempts(id)]);
  return {
    deliveryId: id,
    webhookId,
    eventId: noticeId,
    event: notice?.event ?? "",
    transactionId,
    status,
    createdAt: isoTime(createdAt),
    attempts: attempts.map(attemptBody),
  };
}

function attemptBody(attempt: DeliveryAttemptRecord): DeliveryAttemptBody {
  const { number, startedAt, durationMs, opening, firstByteMs, httpStatus, error, excerpt } = attempt;
  const { dns: dnsMs = null, connect: connectMs = null, tls: tlsMs = null } = opening ?? {};
  const phases = { dnsMs, connectMs, tlsMs, firstByteMs };
  const told = { durationMs, phases, httpStatus, error: shownError(error), excerpt };
  return { number, startedAt: isoTime(startedAt), ...told };
}

const BLOCKED: AttemptError = "blocked_address";
const UNRESOLVED: AttemptError = "dns";

/** A refused address is shown as an unresolved name: otherwise a tenant could map this server's own network. */
export function shownError(error: string | null): string | null {
  return error === BLOCKED ? UNRESOLVED : error;
}
