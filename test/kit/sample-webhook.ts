/** Notices as a receiver of webhooks gets them, without a service: for tests of that receiver. */
// modules: webhooks
import { signatureHeaders } from "../../src/payments/webhooks/sending/signature.ts";
import { sampleNotice } from "../../src/payments/webhooks/test-webhook.ts";
import { noticeBody, type NoticeEvent } from "../../src/payments/frame/notices/notice-body.ts";
import { newId } from "../../src/payments/frame/ids.ts";
import { systemClock, systemRandom, type Clock } from "../../src/core/runtime.ts";

/** A request to a receiver: these bytes, with these headers. */
export interface SampleWebhook {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Makes one notice of an event, about no money, and signs it with `secret` as the service does. Without a secret it is not
 * signed. `clock` says when it was sent; default that of the machine.
 *
 * @example
 * ```ts
 * import { sampleWebhook } from "paystate/testing";
 * import { verifyWebhook } from "paystate/webhook";
 *
 * const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
 * const { body, headers } = sampleWebhook("transaction.completed", { secret });
 * const notice = await verifyWebhook(body, headers, secret);
 * console.log(notice.event); // transaction.completed
 * ```
 */
export function sampleWebhook(
  event: NoticeEvent,
  { secret, clock = systemClock }: { readonly secret: string | null; readonly clock?: Pick<Clock, "now"> },
): SampleWebhook {
  const now = clock.now();
  const body = noticeBody(sampleNotice(event, newId("tx_test", now, systemRandom), now));
  const signed = signatureHeaders({
    body,
    secret,
    noticeId: newId("evt", now, systemRandom),
    timestampSeconds: Math.floor(now / 1_000),
  });
  return { body, headers: { ...signed, "content-type": "application/json", "user-agent": "paystate" } };
}
