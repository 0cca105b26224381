/** Trying a webhook out: one attempt with a sample notice, made and signed like a real one, and never repeated. */
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Clock, Random } from "../../runtime.ts";
import type { Delivery } from "./sending/attempt.ts";
import { noticeBody } from "./sending/notice-body.ts";
import { signatureHeaders } from "./sending/signature.ts";
import { answerOnce } from "../accounts/answer-once.ts";
import type { Answer, RequestOptions } from "../accounts/answer-once.ts";
import type { Caller } from "../accounts/caller.ts";
import { newId } from "../ids.ts";
import { parseRequest, webhookTest } from "../requests.ts";
import type { WebhookTest } from "../requests.ts";
import { sampleNotice } from "./sample-notice.ts";
import type { Sealing } from "../secrets/sealing.ts";
import { shownError } from "./shown-error.ts";
import { ownWebhook } from "./webhook-body.ts";
import { readEvent } from "./webhook-fields.ts";
import { secretsOf } from "./webhook-secret.ts";

/** How one attempt went, as the webhook's owner is told. */
export interface TestedWebhookBody {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly event: string;
  readonly delivered: boolean;
  /** Null when no answer came. */
  readonly httpStatus: number | null;
  readonly durationMs: number;
  /** Null when it was delivered. */
  readonly error: string | null;
}

/** See `PaymentService.testWebhook`. */
export type TestWebhook = (
  caller: Caller,
  webhookId: string,
  request: WebhookTest,
  options?: RequestOptions,
) => Promise<Answer<TestedWebhookBody>>;

export function webhookTests(deps: {
  readonly storage: PaymentStorage;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealing: Sealing;
  readonly delivery: Delivery;
  readonly commit: (writes: readonly PaymentWrite[]) => Promise<boolean>;
}): TestWebhook {
  const { storage, clock, random, sealing, delivery, commit } = deps;

  return (caller, webhookId, body, options = {}) => {
    const path = `/v1/webhooks/${webhookId}/test`;
    return answerOnce(deps, { caller, path, request: body, options }, async () => {
      const request = parseRequest(webhookTest, body);
      const webhook = await ownWebhook(storage, caller, webhookId);
      const event = readEvent(request.event);
      const now = clock.now();
      const text = noticeBody(sampleNotice(event, newId("tx_test", now, random), now));
      const headers = signatureHeaders({
        body: text,
        ...secretsOf(sealing, webhook, now),
        noticeId: newId("evt", now, random),
        timestampSeconds: Math.floor(now / 1_000),
      });
      const { ok, httpStatus, error, durationMs } = await delivery.attempt({
        url: webhook.url,
        body: text,
        headers,
      });
      return {
        body: {
          ...{ deliveryId: newId("dlv", now, random), webhookId, event, delivered: ok },
          ...{ httpStatus, durationMs, error: shownError(error) },
        },
        commit: async (writes) => writes.length === 0 || commit(writes),
      };
    });
  };
}
