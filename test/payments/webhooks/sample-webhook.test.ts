/** Samples of notices for tests of a receiver: each verifies as a real one does. */
// modules: webhooks
import { expect, test } from "vitest";
import { NOTICE_EVENTS } from "../../../src/payments/frame/notices/notice-body.ts";
import { verifyServiceSignature } from "../../../src/payments/webhooks/sending/signature.ts";
import { verifyWebhook, WebhookRefused } from "../../../src/client/webhook/index.ts";
import { sampleWebhook } from "../../kit/sample-webhook.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

test.each(NOTICE_EVENTS)(
  "a sample of %s is genuine to both verifiers, and of no real transaction",
  async (event) => {
    const { body, headers } = sampleWebhook(event, { secret });
    const notice = await verifyWebhook(body, headers, secret);
    expect(notice.event).toBe(event);
    expect(notice.transactionId).toMatch(/^tx_test_/);
    expect(
      verifyServiceSignature(body, String(new Headers(headers).get("x-service-signature")), secret),
    ).toBe(true);
  },
);

test("under another secret, unsigned, or an hour old, a sample is refused", async () => {
  const other = sampleWebhook("transaction.failed", { secret: `${secret}x` });
  const unsigned = sampleWebhook("transaction.failed", { secret: null });
  const old = sampleWebhook("transaction.failed", { secret, clock: { now: () => Date.now() - 3_600_000 } });
  expect(new Headers(unsigned.headers).has("x-service-signature")).toBe(false);
  for (const { body, headers } of [other, unsigned, old]) {
    await expect(verifyWebhook(body, headers, secret)).rejects.toBeInstanceOf(WebhookRefused);
  }
});
