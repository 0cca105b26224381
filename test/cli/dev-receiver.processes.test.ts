/** The certificate of `paystate listen`: what it is good for, and how long it and the secret beside it are kept. */
import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { receiverFor } from "../../src/cli/dev-receiver.ts";
import { systemRandom, type Clock } from "../../src/core/runtime.ts";

const DAY_MS = 86_400_000;
const START = Date.UTC(2027, 0, 31, 12);
const at = (now: number): { readonly clock: Clock; readonly random: typeof systemRandom } => ({
  clock: { now: () => now, sleep: async () => {} },
  random: systemRandom,
});

test("it is for the loopback addresses alone, and can issue no others", () => {
  const { certificate, privateKey } = receiverFor(undefined, at(START));
  const read = new X509Certificate(certificate);
  expect(read.subjectAltName).toBe("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
  expect(read.ca).toBe(false);
  expect(read.verify(read.publicKey)).toBe(true);
  expect(privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  // A clock that was set back a little does not find it too young.
  expect(Date.parse(read.validFrom)).toBe(START - DAY_MS);
  expect(Date.parse(read.validTo)).toBe(START + 365 * DAY_MS);
});

test("two of them share neither key, nor number, nor secret", () => {
  const [one, two] = [receiverFor(undefined, at(START)), receiverFor(undefined, at(START))];
  expect(one.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(one.secret).not.toBe(two.secret);
  expect(one.privateKey).not.toBe(two.privateKey);
  const serial = ({ certificate }: typeof one): string => new X509Certificate(certificate).serialNumber;
  expect(serial(one)).not.toBe(serial(two));
});

test("it is kept until a month before its end; its secret is kept for good", () => {
  const made = receiverFor(undefined, at(START));
  expect(receiverFor(made, at(START + 334 * DAY_MS))).toBe(made);
  const renewed = receiverFor(made, at(START + 336 * DAY_MS));
  expect(renewed.secret).toBe(made.secret);
  expect(renewed.certificate).not.toBe(made.certificate);
});
