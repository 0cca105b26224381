/** Webhooks, from their registration to the last retry, against a real HTTPS receiver. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { sqliteStorage } from "paystate/storage/sqlite";
import { verifyServiceSignature } from "../../src/webhooks/signature.ts";
import type { Caller } from "../../src/payments/caller.ts";
import type { PaymentService } from "../../src/create-payment-service.ts";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerWith, startHttpsReceiver } from "../kit/https-receiver.ts";
import type { HttpsReceiver } from "../kit/https-receiver.ts";
import { issueLoopbackCertificate } from "../kit/loopback-certificate.ts";
import type { LoopbackCertificate } from "../kit/loopback-certificate.ts";
import { passTime } from "../kit/pass-time.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import type { ServiceFixture } from "../kit/service-fixture.ts";

const MINUTE = 60_000;
const ALL = ["transaction.pending", "transaction.confirmed", "transaction.completed", "transaction.failed"];
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

let certificate: LoopbackCertificate;
let receiver: HttpsReceiver;
let fixture: ServiceFixture;
let caller: Caller;
let folder: string;

beforeAll(async () => {
  certificate = await issueLoopbackCertificate();
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "paystate-webhooks-"));
  const storage = await sqliteStorage(join(folder, "payments.db"));
  fixture = await serviceFixture({
    storage,
    webhooks: { ca: certificate.ca, allowAddress: (ip) => ip === "127.0.0.1" },
  });
  receiver = await startHttpsReceiver({ certificate, now: () => fixture.clock.now() });
  caller = await fixture.caller();
});
afterEach(async () => {
  await receiver.close();
  await fixture.close();
  await fixture.storage.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const register = async (request: object = {}): Promise<string> => {
  const { body } = await fixture.service.registerWebhook(caller, {
    url: receiver.url,
    events: ALL,
    ...request,
  });
  return body.webhookId;
};
const posts = (): HttpsReceiver["requests"] => receiver.requests.filter(({ method }) => method === "POST");
const eventsReceived = (): unknown[] =>
  posts().map(({ body }) => (JSON.parse(body.toString("utf8")) as { event: string }).event);
const sendOne = async (): Promise<string> => {
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const bob = fixture.wallet("bob");
  return (await fixture.send(caller, { from: alice, to: bob.address, amount: "1.5" })).transactionId;
};
/** Lets virtual time pass for a service, which may be another one than the fixture's. */
const passFor = (service: PaymentService, until: number): Promise<void> =>
  passTime(
    { clock: fixture.clock, engine: service, storage: fixture.storage, workflows: service.workflows },
    until,
  );

describe("a delivery", () => {
  test("SPEC's notices arrive in order, with every field, signed for both kinds of receivers", async () => {
    await register({ secret: SECRET });
    const transactionId = await sendOne();
    await fixture.finalize();
    expect(eventsReceived()).toEqual([
      "transaction.pending",
      "transaction.confirmed",
      "transaction.completed",
    ]);

    const [, , last] = posts();
    const text = last?.body.toString("utf8") ?? "";
    const { signature, blockTime } = await fixture.service.transaction(caller, transactionId);
    expect(JSON.parse(text)).toEqual({
      event: "transaction.completed",
      transactionId,
      timestamp: new Date(fixture.clock.now()).toISOString(),
      data: {
        transactionId,
        status: "completed",
        mode: "wallet",
        type: "send",
        signature,
        blockTime,
        fee: "0.000005",
        recipients: [{ address: expect.any(String) as string, amount: "1.5" }],
        reason: null,
      },
    });
    const header = String(last?.headers["x-service-signature"]);
    expect(verifyServiceSignature(text, header, SECRET)).toBe(true);
    expect(verifyServiceSignature(`${text} `, header, SECRET)).toBe(false);
    const headers = Object.fromEntries(
      ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [
        name,
        String(last?.headers[name]),
      ]),
    );
    // The npm package checks the timestamp against the real clock, which is not ours: only the signature is compared.
    const timestamp = new Date(Number(headers["webhook-timestamp"]) * 1_000);
    expect(new Webhook(SECRET).sign(headers["webhook-id"] ?? "", timestamp, text)).toBe(
      headers["webhook-signature"],
    );
  });

  test("H2: without a secret there is no signature header", async () => {
    await register();
    await sendOne();
    await fixture.finalize();
    const [first] = posts();
    expect(first?.headers).not.toHaveProperty("x-service-signature");
    expect(first?.headers).not.toHaveProperty("webhook-signature");
    expect(first?.headers).toHaveProperty("webhook-id");
  });

  test("H9: events that were not subscribed are never sent", async () => {
    await register({ events: ["transaction.completed", "transaction.completed"] });
    await sendOne();
    await fixture.finalize();
    expect(eventsReceived()).toEqual(["transaction.completed"]);
  });

  test("a webhook registered after a notice does not receive it", async () => {
    await sendOne();
    await fixture.service.settled();
    fixture.clock.advance(1);
    await register();
    await fixture.finalize();
    expect(eventsReceived()).toEqual(["transaction.confirmed", "transaction.completed"]);
  });

  test("H8: a deleted webhook gets nothing more, deliveries that wait for their retry included", async () => {
    receiver.answer(answerWith(500));
    const webhookId = await register();
    await sendOne();
    await fixture.service.settled();
    expect(posts()).toHaveLength(1);
    await fixture.service.deleteWebhook(caller, webhookId);
    await fixture.finalize();
    await fixture.pass(8 * 60 * MINUTE);
    expect(posts()).toHaveLength(1);
    expect((await fixture.service.webhooks(caller)).webhooks).toEqual([]);
  });

  test("notices of one transaction stay in order while the first is slow, and retries may overtake", async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    receiver.answer(async (request, response) => {
      if (request.method === "POST" && posts().length === 1) await gate;
      response.writeHead(posts().length === 1 ? 500 : 200).end();
    });
    await register();
    await sendOne();
    const first = receiver.nextRequest();
    const settling = fixture.service.settled();
    await first;
    // The first attempt hangs. The chain goes on to finality, and the other notices wait for their turn.
    fixture.chain.advance(60);
    expect(eventsReceived()).toEqual(["transaction.pending"]);
    open();
    await settling;
    await fixture.finalize();
    expect(eventsReceived()).toEqual([
      "transaction.pending",
      "transaction.confirmed",
      "transaction.completed",
    ]);
    await fixture.pass(MINUTE);
    expect(eventsReceived().at(-1)).toBe("transaction.pending");
  });
});

describe("retries", () => {
  test("H3, H6: attempts start at 0, 1, 6, 21, 81 and 441 minutes, across a restart, same id and bytes, and stop at six", async () => {
    receiver.answer(answerWith(503));
    await register({ secret: SECRET, events: ["transaction.pending"] });
    const began = fixture.clock.now();
    await sendOne();
    await fixture.finalize();
    await fixture.pass(10 * MINUTE);
    await fixture.service.stop();
    const restarted = fixture.another();
    await restarted.start();
    await passFor(restarted, began + 24 * 60 * MINUTE);

    expect(posts().map(({ at }) => (at - began) / MINUTE)).toEqual([0, 1, 6, 21, 81, 441]);
    expect(new Set(posts().map(({ body }) => body.toString("hex"))).size).toBe(1);
    expect(new Set(posts().map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    await restarted.stop();
  });

  test("a receiver that recovers gets the notice at the next attempt and no more", async () => {
    receiver.answer(answerWith(500));
    await register({ events: ["transaction.pending"] });
    const transactionId = await sendOne();
    await fixture.finalize();
    receiver.answer(answerWith(200));
    await fixture.pass(24 * 60 * MINUTE);
    expect(posts()).toHaveLength(2);
    const [delivery] = await fixture.storage.deliveries(transactionId);
    expect(delivery).toMatchObject({ status: "delivered", attempts: 2 });
    const attempts = await fixture.storage.deliveryAttempts(delivery?.id ?? "");
    expect(attempts).toMatchObject([
      { number: 1, httpStatus: 500, error: "http_status" },
      { number: 2, httpStatus: 200, error: null },
    ]);
  });

  test("after a long downtime attempts are never closer than SPEC's delays", async () => {
    receiver.answer(answerWith(500));
    await register({ events: ["transaction.pending"] });
    const began = fixture.clock.now();
    await sendOne();
    await fixture.service.settled();
    await fixture.service.stop();
    fixture.clock.advance(60 * MINUTE);
    const restarted = fixture.another();
    await restarted.start();
    await passFor(restarted, began + 24 * 60 * MINUTE);
    expect(posts().map(({ at }) => (at - began) / MINUTE)).toEqual([0, 60, 65, 80, 140, 500]);
    await restarted.stop();
  });

  test("a 302 is a failure and is not followed, a 204 is a failure", async () => {
    receiver.answer(answerWith(302, "", { location: receiver.url }));
    await register({ events: ["transaction.pending"] });
    await sendOne();
    await fixture.service.settled();
    expect(posts()).toHaveLength(1);
    receiver.answer(answerWith(204));
    await fixture.pass(MINUTE);
    expect(posts()).toHaveLength(2);
    await fixture.pass(5 * MINUTE);
    expect(posts()).toHaveLength(3);
  });
});

describe("registration", () => {
  test("H15: unknown or no events are INVALID_EVENTS", async () => {
    for (const events of [[], ["transaction.cancelled"], ["transaction.pending", "*"]]) {
      await expect(register({ events })).rejects.toMatchObject({
        code: "INVALID_EVENTS",
        details: { allowed: ALL },
      });
    }
  });

  test("URLs that are no HTTPS URLs of a public host are INVALID_URL with their reason", async () => {
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

  test("nobody listening is URL_UNREACHABLE and says no more than the URL", async () => {
    await receiver.close();
    await expect(register()).rejects.toMatchObject({
      code: "URL_UNREACHABLE",
      details: { url: receiver.url },
    });
  });

  test("H11: the fourth webhook on free is WEBHOOK_LIMIT_EXCEEDED, and of 20 at once three are taken", async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => register()));
    const codes = results.flatMap((result) =>
      result.status === "rejected" ? [(result.reason as { code: string }).code] : [],
    );
    // Ten were counted in the hour's window; of those ten three found a place.
    expect(codes.filter((code) => code === "WEBHOOK_LIMIT_EXCEEDED")).toHaveLength(7);
    expect(codes.filter((code) => code === "RATE_LIMIT_EXCEEDED")).toHaveLength(10);
    expect((await fixture.service.webhooks(caller)).webhooks).toHaveLength(3);
  });

  test("H11: the eleventh registration in an hour is RATE_LIMIT_EXCEEDED even after deletes", async () => {
    for (let times = 0; times < 10; times++) {
      await fixture.service.deleteWebhook(caller, await register());
    }
    await expect(register()).rejects.toMatchObject({
      code: "RATE_LIMIT_EXCEEDED",
      details: { scope: "webhook_registration", limit: 10, windowSeconds: 3_600 },
    });
    fixture.clock.advance(60 * MINUTE);
    await register();
  });

  test("E1: the same Idempotency-Key registers one webhook and is not counted again", async () => {
    const request = { url: receiver.url, events: ALL };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        fixture.service.registerWebhook(caller, request, { idempotencyKey: "hook-1" }),
      ),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await fixture.service.webhooks(caller)).webhooks).toHaveLength(1);
  });

  test("H13: the secret is neither in an answer nor in the database", async () => {
    const secret = "canary-secret-7d2f41";
    const { text } = await fixture.service.registerWebhook(caller, {
      url: receiver.url,
      events: ALL,
      secret,
    });
    expect(text).not.toContain(secret);
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file)).includes(secret), file).toBe(false);
    }
  });

  test("H16: another account neither sees nor deletes it", async () => {
    const webhookId = await register();
    const stranger = await fixture.caller();
    expect((await fixture.service.webhooks(stranger)).webhooks).toEqual([]);
    await expect(fixture.service.deleteWebhook(stranger, webhookId)).rejects.toMatchObject({
      code: "WEBHOOK_NOT_FOUND",
    });
    await fixture.service.deleteWebhook(caller, webhookId);
    await expect(fixture.service.deleteWebhook(caller, webhookId)).rejects.toMatchObject({
      code: "WEBHOOK_NOT_FOUND",
    });
  });
});
