/** Changing a webhook over HTTP. */
// modules: webhooks
import { describe, expect } from "vitest";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import { sampled } from "../kit/thorough.ts";
import { httpTest } from "./http-test.ts";
import { WAYS } from "./ways.ts";

describe.each(sampled(WAYS, "ways to updates of webhooks"))("PUT /v1/webhooks/{webhookId}, $name", (way) => {
  const test = httpTest
    .extend("http", ({ receiver, httpOf }) => {
      const webhooks = { allowAddress: (ip: string) => ip === "127.0.0.1", ca: receiver.ca };
      return httpOf(way, { service: { webhooks } });
    })
    .extend("client", ({ http }) => http.client())
    .extend("webhookId", async ({ receiver, client }) => {
      const registration = { url: receiver.url, events: ["transaction.completed"] };
      return String((await client.post("/v1/webhooks", registration)).body["webhookId"]);
    })
    .extend("path", ({ webhookId }) => `/v1/webhooks/${webhookId}`);

  test("H29: what is named changes, the rest stays, and the whole webhook is answered without its secret", async ({
    receiver,
    client,
    path,
  }) => {
    const before = (await client.get(path)).body;
    const events = ["transaction.failed", "transaction.failed", "transaction.pending"];
    const changed = await client.put(path, { events, secret: "a canary of a secret" });
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({ ...before, events: ["transaction.failed", "transaction.pending"] });
    expect(changed.text).not.toContain("canary");
    const moved = await client.put(path, { url: `${receiver.url}/other` });
    expect(moved.body).toEqual({ ...changed.body, url: `${receiver.url}/other` });
    const disabled = await client.put(path, { enabled: false });
    expect(disabled.body).toEqual({ ...moved.body, enabled: false, disabledReason: "disabled_by_owner" });
    expect((await client.get(path)).body).toEqual(disabled.body);
    expect((await client.get("/v1/webhooks")).body).toEqual({ webhooks: [disabled.body] });
    expect((await client.put(path, { enabled: true, secret: null })).body).toEqual(moved.body);
  });

  test("a URL is refused for the reasons of a registration, and nothing is changed", async ({
    client,
    path,
  }) => {
    const before = (await client.get(path)).body;
    const refused = async (change: object): Promise<unknown> => {
      const { status, code, details } = await client.put(path, { enabled: false, ...change });
      return [status, code, details["reason"] ?? details["invalid"]];
    };
    expect(await refused({ url: "http://example.com/" })).toEqual([400, "INVALID_URL", "not_https"]);
    expect(await refused({ url: "https://10.0.0.1/" })).toEqual([400, "INVALID_URL", "private_address"]);
    expect(await refused({ url: "https://169.254.169.254/" })).toEqual([
      400,
      "INVALID_URL",
      "private_address",
    ]);
    expect(await refused({ events: [] })).toEqual([400, "INVALID_EVENTS", []]);
    expect(await refused({ events: ["*"] })).toEqual([400, "INVALID_EVENTS", ["*"]]);
    const gone = await startHttpsReceiver();
    await gone.close();
    const unreachable = await client.put(path, { url: gone.url, enabled: false });
    expect(unreachable).toMatchObject({ status: 422, code: "URL_UNREACHABLE" });
    expect(unreachable.details).toEqual({
      url: gone.url,
      requestId: unreachable.headers.get("x-request-id"),
      docUrl: "/v1/docs#URL_UNREACHABLE",
    });
    expect((await client.get(path)).body).toEqual(before);
  });

  test("a body of the wrong shape is VALIDATION_ERROR and names the field", async ({
    client,
    webhookId,
    path,
  }) => {
    const problem = async (body: unknown): Promise<unknown> => {
      const refused = await client.put(path, body);
      expect(refused).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
      return refused.details["fields"];
    };
    expect(await problem({})).toEqual([{ path: "", message: "expected url, events, secret or enabled" }]);
    expect(await problem({ webhookId })).toMatchObject([{ path: "webhookId", message: "unknown field" }, {}]);
    expect(await problem({ secret: "x".repeat(15) })).toEqual([
      { path: "secret", message: "expected 16 characters or more" },
    ]);
    expect(await problem({ secret: "x".repeat(257) })).toEqual([
      { path: "secret", message: "expected 256 characters or fewer" },
    ]);
    for (const [secret, message] of [
      ["płatność płatność", "expected printable ASCII characters and spaces"],
      ["whsec_MfKQ9r8GKYqrTwjUP", "expected base64 of at least 16 bytes, padded, behind whsec_"],
    ]) {
      expect(await problem({ secret })).toEqual([{ path: "secret", message }]);
      const registration = { url: "https://shop.example/", events: ["transaction.completed"], secret };
      const { details } = await client.post("/v1/webhooks", registration);
      expect(details["fields"]).toEqual([{ path: "secret", message }]);
    }
    expect(await problem({ enabled: "yes" })).toMatchObject([{ path: "enabled" }]);
    expect(await problem("{")).toMatchObject([{ path: "" }]);
    const text = await client.request(path, {
      method: "PUT",
      body: "{}",
      headers: { "content-type": "text/plain" },
    });
    expect(text).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  test("H11: a url counts as a registration, other changes do not, and the eleventh in an hour is 429", async ({
    receiver,
    client,
    path,
  }) => {
    // The registration itself was the first.
    for (let left = 8; left >= 0; left--) {
      const moved = await client.put(path, { url: `${receiver.url}/${left}` });
      expect(moved.headers.get("ratelimit")).toBe(`"webhook_registration";r=${left};t=3600`);
      expect(moved.headers.get("ratelimit-policy")).toBe('"webhook_registration";q=10;w=3600');
    }
    const before = (await client.get(path)).body;
    const eleventh = await client.put(path, { url: receiver.url });
    expect(eleventh).toMatchObject({ status: 429, code: "RATE_LIMIT_EXCEEDED" });
    expect(eleventh.details).toMatchObject({
      scope: "webhook_registration",
      limit: 10,
      windowSeconds: 3_600,
    });
    expect((await client.get(path)).body).toEqual(before);
    const other = await client.put(path, { enabled: true });
    expect(other.status).toBe(200);
    expect(other.headers.get("ratelimit-policy")).toBe('"creates";q=30;w=60');
  });

  test("H16: another account's, an unknown and a deleted webhook are 404 alike", async ({
    http,
    receiver,
    client,
    webhookId,
    path,
  }) => {
    const stranger = await http.client();
    const paths = [path, "/v1/webhooks/wh_0"];
    for (const unknown of paths) {
      for (const change of [{ enabled: false }, { url: receiver.url }, { secret: null }, { events: ["*"] }]) {
        expect(await stranger.put(unknown, change)).toMatchObject({ status: 404, code: "WEBHOOK_NOT_FOUND" });
      }
      expect(await stranger.get(unknown)).toMatchObject({ status: 404, code: "WEBHOOK_NOT_FOUND" });
    }
    expect((await client.get(path)).body).toMatchObject({ enabled: true, url: receiver.url });
    await client.delete(path);
    expect(await client.put(path, { enabled: false })).toMatchObject({ status: 404, details: { webhookId } });
    expect(await client.get(path)).toMatchObject({ status: 404, details: { webhookId } });
  });
});
