/** Registering, listing and deleting webhooks. */
// modules: webhooks
import { describe, expect } from "vitest";
import { NOTICE_EVENTS } from "../../../src/payments/frame/notices/notice-body.ts";
import { webhookTest as test } from "./webhook-test.ts";
import { ALL_EVENTS } from "./webhook-world.ts";

const MINUTE = 60_000;

describe("registration", () => {
  test("H15: unknown or no events are INVALID_EVENTS", async ({ register }) => {
    for (const events of [[], ["transaction.refund"], ["transaction.pending", "*"]]) {
      await expect(register({ events })).rejects.toMatchObject({
        code: "INVALID_EVENTS",
        details: { allowed: NOTICE_EVENTS },
      });
    }
  });

  test("URLs that are no HTTPS URLs of a public host are INVALID_URL with their reason", async ({
    register,
  }) => {
    const reasons = {
      "http://example.com/": "not_https",
      "not a url": "unparseable",
      "https://user:pass@example.com/": "credentials",
      "https://10.0.0.1/": "private_address",
    };
    for (const [url, reason] of Object.entries(reasons)) {
      await expect(register({ url })).rejects.toMatchObject({ code: "INVALID_URL", details: { reason } });
    }
  });

  test("nobody listening is URL_UNREACHABLE and says no more than the URL", async ({
    receiver,
    register,
  }) => {
    await receiver.close();
    await expect(register()).rejects.toMatchObject({
      code: "URL_UNREACHABLE",
      details: { url: receiver.url },
    });
  });

  test("H11: the fourth webhook on free is WEBHOOK_LIMIT_EXCEEDED, and of 20 at once three are taken", async ({
    fixture,
    customer,
    register,
  }) => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => register()));
    const codes = results.flatMap((result) =>
      result.status === "rejected" ? [(result.reason as { code: string }).code] : [],
    );
    // Ten were counted in the hour's window; of those ten three found a place.
    expect(codes.filter((code) => code === "WEBHOOK_LIMIT_EXCEEDED")).toHaveLength(7);
    expect(codes.filter((code) => code === "RATE_LIMIT_EXCEEDED")).toHaveLength(10);
    expect((await fixture.service.webhooks(customer)).webhooks).toHaveLength(3);
  });

  test("H11: the eleventh registration in an hour is RATE_LIMIT_EXCEEDED even after deletes", async ({
    fixture,
    customer,
    register,
  }) => {
    for (let times = 0; times < 10; times++) {
      await fixture.service.deleteWebhook(customer, await register());
    }
    await expect(register()).rejects.toMatchObject({
      code: "RATE_LIMIT_EXCEEDED",
      details: { scope: "webhook_registration", limit: 10, windowSeconds: 3_600 },
    });
    fixture.clock.advance(60 * MINUTE);
    await register();
  });

  test("E1, R28: the same Idempotency-Key registers one webhook and counts once, also when all ask at once", async ({
    fixture,
    receiver,
    customer,
  }) => {
    const request = { url: receiver.url, events: ALL_EVENTS };
    const standings: number[] = [];
    const ask = (): ReturnType<typeof fixture.service.registerWebhook> =>
      fixture.service.registerWebhook(customer, request, {
        idempotencyKey: "hook-1",
        onLimit: ({ remaining }) => standings.push(remaining),
      });
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    answers.push(await ask());
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect((await fixture.service.webhooks(customer)).webhooks).toHaveLength(1);
    // Those that lost the race gave their hit back, and were told so.
    const since = fixture.clock.now() - 3_600_000;
    const { count } = await fixture.storage.limitWindow(customer.accountId, "webhook_registration", since);
    expect(count).toBe(1);
    expect(standings.at(-1)).toBe(9);
  });

  test("what is refused counts: a malformed key, a key used before, a body of the wrong shape", async ({
    fixture,
    receiver,
    customer,
  }) => {
    const request = { url: receiver.url, events: ALL_EVENTS };
    await fixture.service.registerWebhook(customer, request, { idempotencyKey: "k" });
    const wrong = [
      fixture.service.registerWebhook(customer, request, { idempotencyKey: "two words" }),
      fixture.service.registerWebhook(customer, { ...request, events: [] }, { idempotencyKey: "k" }),
      fixture.service.registerWebhook(customer, { ...request, typo: 1 } as never),
    ];
    const results = await Promise.allSettled(wrong);
    expect(
      results.map((result) => (result.status === "rejected" ? (result.reason as unknown) : null)),
    ).toMatchObject([
      { code: "VALIDATION_ERROR" },
      { code: "IDEMPOTENCY_KEY_REUSED" },
      { code: "VALIDATION_ERROR" },
    ]);
    const since = fixture.clock.now() - 3_600_000;
    const { count } = await fixture.storage.limitWindow(customer.accountId, "webhook_registration", since);
    expect(count).toBe(4);
  });

  test("H16: another account neither sees nor deletes it", async ({ fixture, customer, register }) => {
    const webhookId = await register();
    const stranger = await fixture.caller();
    expect((await fixture.service.webhooks(stranger)).webhooks).toEqual([]);
    await expect(fixture.service.deleteWebhook(stranger, webhookId)).rejects.toMatchObject({
      code: "WEBHOOK_NOT_FOUND",
    });
    await fixture.service.deleteWebhook(customer, webhookId);
    await expect(fixture.service.deleteWebhook(customer, webhookId)).rejects.toMatchObject({
      code: "WEBHOOK_NOT_FOUND",
    });
  });
});

describe("what a receiver may expect otherwise", () => {
  test("Q23: two webhooks of one URL are served both, under one webhook-id", async ({
    fixture,
    register,
    sendOne,
    posts,
  }) => {
    const [one, other] = [
      await register({ events: ["transaction.completed"] }),
      await register({ events: ["transaction.completed"] }),
    ];
    expect(one).not.toBe(other);
    await sendOne();
    await fixture.finalize();
    const ids = posts().map(({ headers }) => headers["webhook-id"]);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  test("Q23: 410 ends nothing and Retry-After delays nothing: the second attempt comes a minute later", async ({
    fixture,
    customer,
    receiver,
    register,
    sendOne,
    posts,
  }) => {
    const webhookId = await register({ events: ["transaction.completed"] });
    receiver.answer((_, response) => void response.writeHead(410, { "retry-after": "86400" }).end());
    await sendOne();
    await fixture.finalize();
    expect(posts()).toHaveLength(1);
    await fixture.pass(MINUTE);
    expect(posts()).toHaveLength(2);
    expect(await fixture.service.webhook(customer, webhookId)).toMatchObject({ enabled: true });
  });
});
