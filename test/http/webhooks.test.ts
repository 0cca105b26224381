/** Webhooks, cancellations and who may see what over HTTP, through every way into the handler. */
// modules: webhooks
import { describe, expect } from "vitest";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import { sampled } from "../kit/thorough.ts";
import { httpTest } from "./http-test.ts";
import { WAYS } from "./ways.ts";

describe.each(sampled(WAYS, "ways to webhooks"))("$name", (way) => {
  const test = httpTest
    .extend("http", ({ receiver, httpOf }) => {
      const webhooks = { allowAddress: () => true, ca: receiver.ca };
      return httpOf(way, { service: { webhooks, broadcastDelayMs: 10_000 } });
    })
    .extend("registration", ({ receiver }) => ({ url: receiver.url, events: ["transaction.completed"] }));

  test("a webhook is registered with 201, listed and deleted; its secret is never told", async ({
    http,
    registration,
  }) => {
    const client = await http.client();
    const created = await client.post("/v1/webhooks", {
      ...registration,
      secret: "a canary of a secret",
    });
    expect(created.status).toBe(201);
    expect(Object.keys(created.body)).toEqual(["webhookId", "url", "events", "createdAt"]);
    const listed = await client.get("/v1/webhooks");
    const whole = { ...created.body, enabled: true, disabledReason: null };
    expect(listed.body).toEqual({ webhooks: [whole] });
    expect((await client.get(`/v1/webhooks/${String(created.body["webhookId"])}`)).body).toEqual(whole);
    expect(`${created.text}${listed.text}`).not.toContain("canary");

    const { webhookId } = created.body;
    const deleted = await client.delete(`/v1/webhooks/${String(webhookId)}`);
    expect(deleted).toMatchObject({ status: 200, body: { webhookId, deleted: true } });
    const again = await client.delete(`/v1/webhooks/${String(webhookId)}`);
    expect(again).toMatchObject({ status: 404, code: "WEBHOOK_NOT_FOUND", details: { webhookId } });
  });

  test("H11: the fourth webhook on free is 409, the eleventh registration in an hour 429 even after deletes", async ({
    http,
    registration,
  }) => {
    const client = await http.client();
    for (const left of [9, 8, 7]) {
      const created = await client.post("/v1/webhooks", registration);
      expect(created.status).toBe(201);
      expect(created.headers.get("ratelimit-policy")).toBe('"webhook_registration";q=10;w=3600');
      expect(created.headers.get("ratelimit")).toBe(`"webhook_registration";r=${left};t=3600`);
    }
    const fourth = await client.post("/v1/webhooks", registration);
    expect(fourth).toMatchObject({ status: 409, code: "WEBHOOK_LIMIT_EXCEEDED" });
    expect(fourth.details).toMatchObject({ limit: 3, current: 3, tier: "free" });

    const { body } = await client.get("/v1/webhooks");
    for (const { webhookId } of body["webhooks"] as { webhookId: string }[]) {
      expect((await client.delete(`/v1/webhooks/${webhookId}`)).status).toBe(200);
    }
    for (let n = 5; n <= 10; n++) await client.post("/v1/webhooks", registration);
    const eleventh = await client.post("/v1/webhooks", registration);
    expect(eleventh).toMatchObject({ status: 429, code: "RATE_LIMIT_EXCEEDED" });
    expect(eleventh.details).toMatchObject({ scope: "webhook_registration", limit: 10, windowSeconds: 3600 });
  });

  test("H11: 20 parallel registrations at limit 3 leave 3", async ({ http, registration }) => {
    const client = await http.client();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.post("/v1/webhooks", registration)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect((await client.get("/v1/webhooks")).body["webhooks"]).toHaveLength(3);
  });

  test("H12: the eleventh cancel in a minute is 429 with Retry-After, and the window slides", async ({
    http,
  }) => {
    const client = await http.client();
    const path = "/v1/transactions/tx_unknown";
    for (let left = 9; left >= 0; left--) {
      const answer = await client.delete(path);
      expect(answer).toMatchObject({ status: 404, code: "TRANSACTION_NOT_FOUND" });
      expect(answer.headers.get("ratelimit-policy")).toBe('"cancel";q=10;w=60');
      expect(answer.headers.get("ratelimit")).toBe(`"cancel";r=${left};t=60`);
    }
    http.clock.advance(20_000);
    const eleventh = await client.delete(path);
    expect(eleventh).toMatchObject({ status: 429, code: "RATE_LIMIT_EXCEEDED" });
    expect(eleventh.headers.get("retry-after")).toBe("40");
    expect(eleventh.headers.get("ratelimit")).toBe('"cancel";r=0;t=40');
    expect(eleventh.details).toMatchObject({ scope: "cancel", retryAfter: 40, tier: "free" });
    http.clock.advance(40_000);
    expect((await client.delete(path)).status).toBe(404);
  });

  test("every authenticated request counts against the limits, also one that is refused at the door", async ({
    http,
    registration,
  }) => {
    const client = await http.client();
    const { caller } = client;
    const left = async (): Promise<string | null> =>
      (await client.post("/v1/webhooks", { ...registration, events: [] })).headers.get("ratelimit");
    const looker = await http.client({ caller, scopes: ["webhooks:read", "transactions:read"] });
    const post = (body: string, type = "application/json"): ReturnType<typeof client.request> =>
      client.request("/v1/webhooks", { method: "POST", body, headers: { "content-type": type } });

    expect((await looker.post("/v1/webhooks", registration)).code).toBe("INSUFFICIENT_SCOPE");
    expect((await post("{}", "text/plain")).code).toBe("UNSUPPORTED_MEDIA_TYPE");
    expect((await post(" ".repeat(70_000))).code).toBe("PAYLOAD_TOO_LARGE");
    const garbled = await post("{");
    expect(garbled.code).toBe("VALIDATION_ERROR");
    expect(garbled.headers.get("ratelimit")).toBe('"webhook_registration";r=6;t=3600');
    expect(await left()).toBe('"webhook_registration";r=5;t=3600');
    for (let n = 0; n < 5; n++) await post("{");
    // A full window comes before what is wrong with the body, and after the scope.
    expect((await post("{")).code).toBe("RATE_LIMIT_EXCEEDED");
    expect((await looker.post("/v1/webhooks", registration)).code).toBe("INSUFFICIENT_SCOPE");
    expect((await looker.delete("/v1/transactions/tx_0")).code).toBe("INSUFFICIENT_SCOPE");
    const cancelled = await client.delete("/v1/transactions/tx_0");
    expect(cancelled.headers.get("ratelimit")).toBe('"cancel";r=8;t=60');
    // What is no request to one of these endpoints is none to their limits.
    await client.request("/v1/webhooks", { method: "PATCH" });
    expect((await client.delete("/v1/transactions/tx_0")).headers.get("ratelimit")).toBe('"cancel";r=7;t=60');
  });

  test("E1, H11: a registration that is replayed counts once, however often and however much at once", async ({
    http,
    registration,
  }) => {
    const client = await http.client();
    const post = (): ReturnType<typeof client.post> =>
      client.post("/v1/webhooks", registration, { "idempotency-key": "hook" });
    const answers = await Promise.all(Array.from({ length: 6 }, post));
    for (let n = 0; n < 12; n++) answers.push(await post());
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const next = await client.post("/v1/webhooks", registration);
    expect(next.headers.get("ratelimit")).toBe('"webhook_registration";r=8;t=3600');
  });

  test("H15: no events or an unknown one is INVALID_EVENTS, duplicates are removed", async ({
    http,
    registration,
  }) => {
    const client = await http.client();
    const none = await client.post("/v1/webhooks", { ...registration, events: [] });
    expect(none).toMatchObject({ status: 400, code: "INVALID_EVENTS", details: { invalid: [] } });
    const unknown = await client.post("/v1/webhooks", { ...registration, events: ["transaction.refund"] });
    expect(unknown).toMatchObject({ status: 400, code: "INVALID_EVENTS" });
    expect(unknown.details["invalid"]).toEqual(["transaction.refund"]);
    const events = ["transaction.failed", "transaction.failed"];
    const created = await client.post("/v1/webhooks", { ...registration, events });
    expect(created.body["events"]).toEqual(["transaction.failed"]);
  });

  test("a URL that is not HTTPS is INVALID_URL, one that does not answer URL_UNREACHABLE", async ({
    http,
    registration,
  }) => {
    const client = await http.client();
    const plain = await client.post("/v1/webhooks", { ...registration, url: "http://example.com/hook" });
    expect(plain).toMatchObject({ status: 400, code: "INVALID_URL", details: { reason: "not_https" } });
    const gone = await startHttpsReceiver();
    await gone.close();
    const { url } = gone;
    const silent = await client.post("/v1/webhooks", { ...registration, url });
    expect(silent).toMatchObject({ status: 422, code: "URL_UNREACHABLE" });
    expect(silent.details).toEqual({
      url,
      requestId: silent.headers.get("x-request-id"),
      docUrl: "/v1/docs#URL_UNREACHABLE",
    });
  });

  test("H16: another account's transaction is 404 to GET and 403 to DELETE; its webhook and quote are 404", async ({
    http,
    registration,
  }) => {
    const owner = await http.client();
    const { body, quote } = await owner.prepareSend();
    const { body: created } = await owner.post("/v1/transactions", body);
    const path = `/v1/transactions/${String(created["transactionId"])}`;
    const { body: webhook } = await owner.post("/v1/webhooks", registration);

    const other = await http.client();
    expect(await other.get(path)).toMatchObject({ status: 404, code: "TRANSACTION_NOT_FOUND" });
    expect(await other.delete(path)).toMatchObject({ status: 403, code: "UNAUTHORIZED" });
    const hook = `/v1/webhooks/${String(webhook["webhookId"])}`;
    expect(await other.delete(hook)).toMatchObject({ status: 404, code: "WEBHOOK_NOT_FOUND" });
    const refresh = await other.post(`/v1/quotes/${quote.quoteId}/refresh`);
    expect(refresh).toMatchObject({ status: 404, code: "QUOTE_NOT_FOUND" });
    expect((await owner.get(path)).body["status"]).toBe("pending");
  });
});
