/** Attempts to deliver an order's notices, for the axis of its timeline. */
import type { DeliveryAttemptRecord } from "../../payments/tables/webhooks.ts";
import type { InspectedPaymentParts } from "../../payments/inspected-payments.ts";
import type { SecretFilter } from "../show-values.ts";

/** An ended delivery attempt. */
export interface EndedAttempt {
  /** The delivery's id. */
  readonly id: string;
  readonly event: string;
  readonly number: number;
  readonly at: number;
  readonly durationMs: number;
  /** The answer or the error, in words. */
  readonly outcome: string;
  readonly isGood: boolean;
}

const MAX_DELIVERIES = 50;

/** Reads the delivery attempts of an order, or of a single delivery when `only` names it. */
export async function readDeliveries(
  { reads }: InspectedPaymentParts,
  transactionId: string,
  { only, redact }: { readonly only: string | null; readonly redact: SecretFilter },
): Promise<EndedAttempt[]> {
  const deliveries = (await reads.deliveries(transactionId)).filter(({ id }) => only === null || id === only);
  const lines = await Promise.all(
    deliveries.slice(-MAX_DELIVERIES).map(async ({ id, noticeId }) => {
      const [notice, attempts] = await Promise.all([reads.notice(noticeId), reads.deliveryAttempts(id)]);
      return attempts.map((attempt) => ({
        id,
        event: notice?.event ?? "a notice",
        ...lineOf(attempt, redact),
      }));
    }),
  );
  return lines.flat();
}

function lineOf(
  attempt: DeliveryAttemptRecord,
  redact: SecretFilter,
): Pick<EndedAttempt, "number" | "at" | "durationMs" | "outcome" | "isGood"> {
  const { number, startedAt, durationMs, httpStatus } = attempt;
  return {
    number,
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
