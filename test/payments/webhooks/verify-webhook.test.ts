/** `paystate/webhook`: what a receiver accepts, and all that it refuses. */
// modules: webhooks
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { Headers as ForeignHeaders } from "undici";
import { expect, test, vi } from "vitest";
import { verifyWebhook } from "paystate/webhook";
import { webhookRequest } from "../../../src/payments/webhooks/requests.ts";
import { noticeBody } from "../../../src/payments/frame/notices/notice-body.ts";
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

test("Q18: headers of another realm, which are no instance of this one's Headers, are read by their `get`", async () => {
  const foreign = new ForeignHeaders(signed());
  expect(foreign).not.toBeInstanceOf(Headers);
  expect(await verifyWebhook(BODY, foreign, SECRET, at(0))).toHaveProperty("id", "evt_1");
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

const isTaken = (secret: string): boolean => webhookRequest.shape.secret.safeParse(secret).success;

/** The package of Standard Webhooks, as the page says to use it. */
const foreignVerifier = (secret: string): Webhook =>
  secret.startsWith("whsec_") ? new Webhook(secret) : new Webhook(secret, { format: "raw" });

test("Q5: of 400 secrets each is refused at registration, or sender, our verifier and another one read it alike", async () => {
  const base64 = fc
    .uint8Array({ minLength: 1, maxLength: 40 })
    .map((bytes) => Buffer.from(bytes).toString("base64"));
  const textOf = (alphabet: string): fc.Arbitrary<string> =>
    fc.string({ unit: fc.constantFrom(...alphabet.split("")), minLength: 10, maxLength: 40 });
  const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join("");
  const secret = fc
    .tuple(
      fc.constantFrom("", "whsec_"),
      fc.oneof(
        base64,
        base64.map((text) => text.replace(/=+$/, "")),
        base64.map((text) => `${text}=`),
        textOf(alphanumeric),
        textOf(`${alphanumeric}_-`),
        textOf(printable),
        fc.string({ unit: anyCharacter, minLength: 16, maxLength: 40 }),
        fc.constant("\ud800".repeat(20)),
      ),
    )
    .map((parts) => parts.join(""));
  vi.useFakeTimers({ toFake: ["Date"], now: AT * 1_000 });
  try {
    await fc.assert(
      fc.asyncProperty(secret, async (drawn) => {
        if (!isTaken(drawn)) return;
        const headers = signed(drawn);
        expect(await verifyWebhook(BODY, headers, drawn, at(0))).toHaveProperty("id", "evt_1");
        expect(foreignVerifier(drawn).verify(BODY, headers)).toHaveProperty("transactionId", "tx_1");
      }),
      { numRuns: 400 },
    );
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  ["base64 of 16 bytes behind whsec_", `whsec_${Buffer.alloc(16, 7).toString("base64")}`, true],
  ["base64 of 15 bytes", `whsec_${Buffer.alloc(15, 7).toString("base64")}`, false],
  ["17 alphanumerics", "whsec_MfKQ9r8GKYqrTwjUP", false],
  ["base64 without its padding", "whsec_BwcHBwcHBwcHBwcHBwcHBw", false],
  ["base64url", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_", false],
  ["letters beyond ASCII", "płatność płatność", false],
  ["a control character", "sixteen letters\n!", false],
  ["a passphrase with spaces", "correct horse battery staple ~", true],
])("Q5: a secret of %s (%j): taken at registration is %s", (_, secret, taken) => {
  expect(isTaken(secret)).toBe(taken);
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
});

test("Q18: a time that is no number of seconds is refused by that name, signed or not", async () => {
  const timeless = signatureHeaders({ body: BODY, secret: SECRET, noticeId: "evt_1", timestampSeconds: NaN });
  const forged = ["", " ", "-1", "1e9", "0x10", "2026-01-01T00:00:00Z", "9".repeat(16)].map((time) => ({
    ...signed(),
    "webhook-timestamp": time,
  }));
  for (const headers of [timeless, ...forged]) {
    await expect(verifyWebhook(BODY, headers, SECRET, at(0))).rejects.toMatchObject(refusal("bad_timestamp"));
  }
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
