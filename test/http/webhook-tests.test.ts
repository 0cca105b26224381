/** Trying a webhook out over HTTP. */
// modules: webhooks
import { describe, expect, vi } from "vitest";
import { Webhook } from "standardwebhooks";
import { NOTICE_EVENTS } from "../../src/payments/frame/notices/notice-body.ts";
import { verifyServiceSignature } from "../../src/payments/webhooks/sending/signature.ts";
import { answerWith, cutConnection } from "../kit/https-receiver.ts";
import { sampled } from "../kit/thorough.ts";
import { httpTest } from "./http-test.ts";
import { WAYS } from "./ways.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const EVENTS = ["pending", "confirmed", "completed", "failed"].map((name) => `transaction.${name}`);

/** `guard` tells whether an address may be connected to. */
const guardedTest = httpTest.extend("guard", { scope: "file" }, ({}) => ({ isOpen: true }));

describe.each(sampled(WAYS, "tests"))("POST /v1/webhooks/{webhookId}/test, $name", (way) => {
  const test = guardedTest
    .extend("http", ({ receiver, guard, httpOf }) => {
      return httpOf(way, { service: { webhooks: { allowAddress: () => guard.isOpen, ca: receiver.ca } } });
    })
    .extend("client", ({ http }) => http.client())
    .extend("webhookId", async ({ receiver, guard, client }) => {
      guard.isOpen = true;
      receiver.answer(answerWith(200));
      const registration = { url: receiver.url, events: ["transaction.completed"], secret: SECRET };
      return String((await client.post("/v1/webhooks", registration)).body["webhookId"]);
    })
    .extend("path", ({ webhookId }) => `/v1/webhooks/${webhookId}/test`)
    .extend(
      "posts",
      ({ receiver }) =>
        () =>
          receiver.requests.filter(({ method }) => method === "POST"),
    );

  test.for(EVENTS)(
    "H29: a sample of %s is delivered once, with every field, signed like a real one",
    async (event, { http, client, webhookId, path, posts }) => {
      const before = posts().length;
      const tested = await client.post(path, { event });
      expect(tested.status).toBe(200);
      expect(tested.body).toEqual({
        deliveryId: expect.stringMatching(/^dlv_[0-9a-f]{32}$/) as string,
        webhookId,
        event,
        delivered: true,
        httpStatus: 200,
        durationMs: 0,
        error: null,
      });
      const [sent, ...more] = posts().slice(before);
      expect(more).toEqual([]);
      const text = sent?.body.toString() ?? "";
      const { data, transactionId, ...rest } = JSON.parse(text) as Record<"transactionId", string> & {
        readonly data: object;
      };
      expect(rest).toEqual({ event, timestamp: new Date(http.clock.now()).toISOString() });
      expect(transactionId).toMatch(/^tx_test_[0-9a-f]{32}$/);
      expect(data).toMatchObject({
        transactionId,
        status: event.split(".")[1],
        mode: "wallet",
        type: "send",
      });
      expect(Object.keys(data).slice(0, 8)).toEqual([
        ...["transactionId", "status", "mode", "type", "signature", "blockTime", "fee", "recipients"],
      ]);
      const headers = sent?.headers as Record<string, string>;
      expect(verifyServiceSignature(text, headers["x-service-signature"], SECRET)).toBe(true);
      vi.useFakeTimers({ toFake: ["Date"], now: http.clock.now() });
      try {
        expect(new Webhook(SECRET).verify(text, headers)).toEqual(JSON.parse(text));
      } finally {
        vi.useRealTimers();
      }
      expect((await client.get(`/v1/transactions/${transactionId}`)).status).toBe(404);
    },
  );

  test("H29: of a webhook that answers 500 the test says so, and is never repeated", async ({
    http,
    receiver,
    client,
    path,
    posts,
  }) => {
    receiver.answer(answerWith(500));
    const before = posts().length;
    const tested = await client.post(path, { event: "transaction.failed" });
    expect(tested).toMatchObject({
      status: 200,
      body: { delivered: false, httpStatus: 500, error: "http_status" },
    });
    await http.pass(8 * 3_600_000);
    expect(posts().length - before).toBe(1);
    receiver.answer(cutConnection);
    const cut = await client.post(path, { event: "transaction.failed" });
    expect(cut.body).toMatchObject({ delivered: false, httpStatus: null, error: "reset" });
  });

  test("H10: an address that is refused is never connected to, and its owner reads dns", async ({
    receiver,
    guard,
    client,
    path,
  }) => {
    guard.isOpen = false;
    const before = receiver.connections();
    const tested = await client.post(path, { event: "transaction.failed" });
    expect(tested.body).toMatchObject({ delivered: false, httpStatus: null, error: "dns" });
    expect(receiver.connections()).toBe(before);
  });

  test("a disabled webhook can be tried out before it is enabled again", async ({
    client,
    webhookId,
    path,
  }) => {
    await client.put(`/v1/webhooks/${webhookId}`, { enabled: false });
    expect((await client.post(path, { event: "transaction.pending" })).body["delivered"]).toBe(true);
  });

  test("H15: an unknown event is INVALID_EVENTS, a body without one VALIDATION_ERROR", async ({
    client,
    path,
  }) => {
    const unknown = await client.post(path, { event: "transaction.refund" });
    expect(unknown).toMatchObject({ status: 400, code: "INVALID_EVENTS" });
    expect(unknown.details).toMatchObject({ invalid: ["transaction.refund"], allowed: NOTICE_EVENTS });
    const none = await client.post(path, {});
    expect(none).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
    expect(none.details["fields"]).toEqual([{ path: "event", message: "is missing" }]);
  });

  test("H16: another account's webhook is 404, and nothing is sent", async ({
    http,
    receiver,
    webhookId,
    path,
  }) => {
    const before = receiver.connections();
    const stranger = await http.client();
    const refused = await stranger.post(path, { event: "transaction.pending" });
    expect(refused).toMatchObject({ status: 404, code: "WEBHOOK_NOT_FOUND", details: { webhookId } });
    expect(receiver.connections()).toBe(before);
  });

  test("E1: the same Idempotency-Key sends one sample and answers the same", async ({
    client,
    path,
    posts,
  }) => {
    const before = posts().length;
    const headers = { "idempotency-key": "k" };
    const first = await client.post(path, { event: "transaction.pending" }, headers);
    const second = await client.post(path, { event: "transaction.pending" }, headers);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(posts().length - before).toBe(1);
    const reused = await client.post(path, { event: "transaction.failed" }, headers);
    expect(reused).toMatchObject({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
  });

  test("the eleventh test in a minute is 429", async ({ client, path, posts }) => {
    for (let left = 9; left >= 0; left--) {
      const tested = await client.post(path, { event: "transaction.pending" });
      expect(tested.headers.get("ratelimit-policy")).toBe('"webhook_test";q=10;w=60');
      expect(tested.headers.get("ratelimit")).toBe(`"webhook_test";r=${left};t=60`);
    }
    const before = posts().length;
    const refused = await client.post(path, { event: "transaction.pending" });
    expect(refused).toMatchObject({ status: 429, code: "RATE_LIMIT_EXCEEDED" });
    expect(refused.details).toMatchObject({ scope: "webhook_test", limit: 10, windowSeconds: 60 });
    expect(posts().length).toBe(before);
  });
});
