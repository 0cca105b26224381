/** Signatures of deliveries: known answers, foreign implementations, and forgeries. */
// modules: webhooks
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  signatureHeaders,
  verifyServiceSignature,
} from "../../../src/payments/webhooks/sending/signature.ts";
import { anyCharacter } from "../../kit/any-character.ts";

const NOW = 1_700_000_000;
const noticeId = "evt_2b7c";

// standardwebhooks reads the time itself and refuses old deliveries.
beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: NOW * 1000 }));
afterEach(() => vi.useRealTimers());

const sign = (body: string, secret: string | null): Record<string, string> =>
  signatureHeaders({ body, secret, noticeId, timestampSeconds: NOW });

test("H1: the signature of RFC 4231, test case 2, is the known answer", () => {
  expect(sign("what do ya want for nothing?", "Jefe")["X-Service-Signature"]).toBe(
    "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  );
});

test("H23: webhook-signature gives the known answer of the Standard Webhooks specification's libraries", () => {
  const headers = signatureHeaders({
    body: '{"test": 2432232314}',
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    noticeId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestampSeconds: 1_614_265_330,
  });
  expect(headers["webhook-signature"]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

test("H1: the signature verifies over raw bytes with unicode and large integers", () => {
  const body = '{"reason":"płatność 💸 \u2028","amount":"18446744073709551615","blockTime":9007199254740993}';
  const header = sign(body, "sécret-🔑")["X-Service-Signature"];
  expect(verifyServiceSignature(body, header, "sécret-🔑")).toBe(true);
  expect(verifyServiceSignature(Buffer.from(body, "utf8"), header, "sécret-🔑")).toBe(true);
});

test("H1: any flipped bit of body or signature, and any other secret, fails", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
      fc.string({ minLength: 1, unit: anyCharacter }),
      fc.nat(),
      fc.nat(7),
      (body, secret, position, bit) => {
        const header = sign(body, secret)["X-Service-Signature"] ?? "";
        const flip = (bytes: Buffer, from = 0): Buffer => {
          const at = from + (position % (bytes.length - from));
          bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
          return bytes;
        };
        expect(verifyServiceSignature(body, header, secret)).toBe(true);
        expect(verifyServiceSignature(flip(Buffer.from(body, "utf8")), header, secret)).toBe(false);
        const forged = flip(Buffer.from(header, "latin1"), "sha256=".length).toString("latin1");
        expect(verifyServiceSignature(body, forged, secret)).toBe(false);
        expect(verifyServiceSignature(body, header, `${secret}x`)).toBe(false);
      },
    ),
  );
});

test.each([
  ["missing", undefined],
  ["null", null],
  ["empty", ""],
  ["without its prefix", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"],
  ["too short", "sha256=5bdc"],
  ["upper case", "sha256=5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843"],
])("a header that is %s is refused without an error", (_name, header) => {
  expect(verifyServiceSignature("what do ya want for nothing?", header, "Jefe")).toBe(false);
});

test("an empty secret neither signs nor verifies", () => {
  expect(sign("{}", "")).toEqual(sign("{}", null));
  const forged = "sha256=b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad";
  expect(verifyServiceSignature("", forged, "")).toBe(false);
});

test("H2: without a secret there is no signature header of either kind", () => {
  expect(sign("{}", null)).toEqual({ "webhook-id": noticeId, "webhook-timestamp": String(NOW) });
});

test("H23: standardwebhooks verifies a delivery signed with a whsec_ secret", () => {
  const key = fc.uint8Array({ minLength: 1, maxLength: 64 });
  fc.assert(
    fc.property(key, fc.json(), (bytes, body) => {
      const secret = `whsec_${Buffer.from(bytes).toString("base64")}`;
      expect(new Webhook(secret).verify(body, sign(body, secret))).toEqual(JSON.parse(body));
    }),
  );
});

test("H23: standardwebhooks verifies a delivery signed with any other secret by its UTF-8 bytes", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: anyCharacter }), fc.json(), (secret, body) => {
      const receiver = new Webhook(new Uint8Array(Buffer.from(secret, "utf8")), { format: "raw" });
      expect(receiver.verify(body, sign(body, secret))).toEqual(JSON.parse(body));
    }),
  );
});

test.each(["whsec_", "whsec_not base64!", "whsec_A"])(
  "%j is no key in base64, so its own bytes are the key",
  (secret) => {
    const receiver = new Webhook(new Uint8Array(Buffer.from(secret, "utf8")), { format: "raw" });
    expect(receiver.verify("{}", sign("{}", secret))).toEqual({});
  },
);

test("H23: standardwebhooks refuses a body that was changed by one byte", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  expect(() => new Webhook(secret).verify('{"a":2}', sign('{"a":1}', secret))).toThrow(
    /No matching signature/,
  );
});
