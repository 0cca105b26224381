/** `paystate/webhook`: what a receiver accepts, and all that it refuses. */
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";
import { verifyWebhook } from "paystate/webhook";
import { noticeBody } from "../../../src/payments/webhooks/sending/notice-body.ts";
import { signatureHeaders } from "../../../src/payments/webhooks/sending/signature.ts";
import { anyCharacter } from "../../kit/any-character.ts";

const AT = 1_767_225_600;
const SECRET = "whsec_Q2FuYXJ5Q2FuYXJ5Q2FuYXJ5Q2FuYXJ5";
const BODY = noticeBody({
  event: "transaction.completed",
  transactionId: "tx_1",
  timestamp: AT * 1_000,
  data: {
    transactionId: "tx_1",
    status: "completed",
    mode: "wallet",
    type: "send",
    signature: "5sig",
    blockTime: AT,
    fee: "0.000005",
    recipients: [{ address: "Bob", amount: "1.5" }],
    reason: null,
    sender: "Alice",
    quoteId: "quote_1",
    inputAsset: "SOL",
    inputMint: null,
    inputAmount: "1",
    outputAsset: "SOL",
    outputMint: null,
    outputAmount: "1",
    reference: "płatność 💸",
  },
});
const signed = (secret = SECRET, body = BODY): Record<string, string> =>
  signatureHeaders({ body, secret, noticeId: "evt_1", timestampSeconds: AT });
const at = (seconds: number): { readonly now: () => number } => ({ now: () => (AT + seconds) * 1_000 });
const refusal = (code: string): object => ({ name: "WebhookRefused", code });

test("a webhook as the service signs it gives its notice, whatever form headers and body have", async () => {
  const notice = { id: "evt_1", event: "transaction.completed", data: { reference: "płatność 💸" } };
  const bytes = new TextEncoder().encode(BODY);
  for (const body of [BODY, bytes, bytes.buffer, Buffer.from(bytes)]) {
    expect(await verifyWebhook(body, signed(), SECRET, at(0))).toMatchObject(notice);
  }
  const upper = Object.fromEntries(
    Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), [value]]),
  );
  for (const headers of [new Headers(signed()), upper]) {
    expect(await verifyWebhook(BODY, headers, SECRET, at(0))).toMatchObject(notice);
  }
});

test("the id of a notice is that of the header, whatever the body says", async () => {
  const body = JSON.stringify({ ...(JSON.parse(BODY) as object), id: "evt_of_the_body" });
  expect(await verifyWebhook(body, signed(SECRET, body), SECRET, at(0))).toHaveProperty("id", "evt_1");
});

test("any secret verifies: of any Unicode, with and without the prefix, beside another one, while it is replaced", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter, minLength: 1 }), async (secret) => {
      expect(await verifyWebhook(BODY, signed(secret), ["another secret", secret], at(0))).toHaveProperty(
        "id",
      );
    }),
  );
  const headers = signatureHeaders({
    body: BODY,
    secret: "the new one",
    previousSecret: SECRET,
    noticeId: "evt_1",
    timestampSeconds: AT,
  });
  for (const secret of ["the new one", SECRET]) {
    expect(await verifyWebhook(BODY, headers, secret, at(0))).toHaveProperty("id");
  }
});

test("what Standard Webhooks signs verifies too", async () => {
  const signature = new Webhook(SECRET).sign("evt_1", new Date(AT * 1_000), BODY);
  const headers = { "webhook-id": "evt_1", "webhook-timestamp": String(AT), "webhook-signature": signature };
  expect(await verifyWebhook(BODY, headers, SECRET, at(0))).toHaveProperty("id", "evt_1");
});

test("another secret, another body, another id and another time are refused", async () => {
  const forged = [
    [BODY, signed("another secret")],
    [`${BODY} `, signed()],
    [BODY, { ...signed(), "webhook-id": "evt_2" }],
    [BODY, { ...signed(), "webhook-timestamp": String(AT + 1) }],
    [BODY, { ...signed(), "webhook-signature": "v1,!!!! v1a,AAAA" }],
  ] as const;
  for (const [body, headers] of forged) {
    await expect(verifyWebhook(body, headers, SECRET, at(0))).rejects.toMatchObject(refusal("bad_signature"));
  }
  for (const name of Object.keys(signed()).filter((each) => each.startsWith("webhook-"))) {
    const headers = { ...signed(), [name]: undefined };
    await expect(verifyWebhook(BODY, headers, SECRET, at(0))).rejects.toMatchObject(
      refusal("missing_header"),
    );
  }
});

test("an old request sent again is refused, and so is one of the future; five minutes by default", async () => {
  for (const seconds of [300, -300]) {
    expect(await verifyWebhook(BODY, signed(), SECRET, at(seconds))).toBeDefined();
  }
  await expect(verifyWebhook(BODY, signed(), SECRET, at(301))).rejects.toMatchObject(refusal("too_old"));
  await expect(verifyWebhook(BODY, signed(), SECRET, at(-301))).rejects.toMatchObject(refusal("too_new"));
  const within = { ...at(11), toleranceMs: 10_000 };
  await expect(verifyWebhook(BODY, signed(), SECRET, within)).rejects.toMatchObject(refusal("too_old"));
  const timeless = signatureHeaders({ body: BODY, secret: SECRET, noticeId: "evt_1", timestampSeconds: NaN });
  await expect(verifyWebhook(BODY, timeless, SECRET, at(0))).rejects.toMatchObject(refusal("too_old"));
});

test("what is signed and is no notice is refused", async () => {
  for (const body of ["", "null", "7", "{}", '{"event":1,"data":{}}']) {
    const headers = signed(SECRET, body);
    await expect(verifyWebhook(body, headers, SECRET, at(0))).rejects.toMatchObject(refusal("bad_body"));
  }
});

test("a parsed body, an empty secret and a tolerance that is none are the developer's mistake, said by name", async () => {
  const mistaken = verifyWebhook as (...given: unknown[]) => Promise<unknown>;
  await expect(mistaken(JSON.parse(BODY), signed(), SECRET)).rejects.toThrow("raw text or bytes");
  for (const secret of ["", [], undefined, [SECRET, ""]]) {
    await expect(mistaken(BODY, signed(), secret)).rejects.toThrow("the secret must be");
  }
  await expect(mistaken(BODY, signed(), SECRET, { toleranceMs: -1 })).rejects.toThrow("toleranceMs");
});

test("of thousands of signatures in one request a few are looked at: each costs a look at the whole body", async () => {
  const looked = vi.spyOn(crypto.subtle, "verify");
  try {
    const headers = signed();
    const many = "v1, ".repeat(4_000) + (headers["webhook-signature"] ?? "");
    const refused = verifyWebhook(BODY, { ...headers, "webhook-signature": many }, SECRET, at(0));
    await expect(refused).rejects.toMatchObject(refusal("bad_signature"));
    expect(looked.mock.calls.length).toBeLessThanOrEqual(8);
  } finally {
    looked.mockRestore();
  }
});
