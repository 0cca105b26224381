/** Signs a delivery: `X-Service-Signature` and the three headers of Standard Webhooks. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { keyOfSecret } from "../../frame/notices/secret-key.ts";

export interface SignatureInput {
  /** The exact body that is sent; signed as its UTF-8 bytes. */
  readonly body: string;
  /** The secret as it was registered; null when there is none. */
  readonly secret: string | null;
  /** The previous secret, while receivers may still check with it; null or absent otherwise. */
  readonly previousSecret?: string | null;
  /** The stable id of the notice, the same on every attempt, by which receivers recognise duplicates. */
  readonly noticeId: string;
  /** Unix time of this attempt in whole seconds, not of the notice: receivers refuse old times. */
  readonly timestampSeconds: number;
}

/**
 * The identifying and signing headers of one attempt.
 *
 * Without a secret there is neither `X-Service-Signature` nor `webhook-signature`. With one, the former is keyed with
 * the secret's UTF-8 bytes as given and the latter as Standard Webhooks wants it, so that the npm package
 * `standardwebhooks` verifies it. While a secret is being replaced the latter holds one signature of each, the new one
 * first, which Standard Webhooks provides for; the former has room for one only.
 */
export function signatureHeaders(input: SignatureInput): Record<string, string> {
  const { body, secret, previousSecret = null, noticeId, timestampSeconds } = input;
  const headers = { "webhook-id": noticeId, "webhook-timestamp": String(timestampSeconds) };
  // An empty key signs nothing: anyone could compute it.
  if (secret === null || secret === "") return headers;
  const signed = `${noticeId}.${timestampSeconds}.${body}`;
  const keys = [secret, ...(previousSecret === null || previousSecret === "" ? [] : [previousSecret])];
  const standard = keys.map(
    (key) => `v1,${createHmac("sha256", keyOfSecret(key)).update(signed, "utf8").digest("base64")}`,
  );
  return {
    ...headers,
    "X-Service-Signature": `sha256=${serviceHmac(body, secret).toString("hex")}`,
    "webhook-signature": standard.join(" "),
  };
}

/**
 * For receivers: whether `header`, the value of `X-Service-Signature`, was made from `body` with `secret`. Compares in
 * constant time. `body` must be the raw body as it arrived; parsing and serialising it again changes the bytes. A
 * missing or garbled header and an empty secret are false; nothing throws.
 *
 * @example
 * ```ts
 * import { createHmac } from "node:crypto";
 * import { verifyServiceSignature } from "paystate";
 *
 * const secret = "the secret of the webhook";
 * const body = '{"event":"transaction.completed"}';
 * const header = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`; // X-Service-Signature
 * console.log(verifyServiceSignature(body, header, secret)); // true
 * console.log(verifyServiceSignature(`${body} `, header, secret)); // false
 * ```
 */
export function verifyServiceSignature(
  body: string | Uint8Array,
  header: string | null | undefined,
  secret: string,
): boolean {
  const hex = /^sha256=([0-9a-f]{64})$/.exec(header ?? "")?.[1];
  if (hex === undefined || secret === "") return false;
  return timingSafeEqual(serviceHmac(body, secret), Buffer.from(hex, "hex"));
}

function serviceHmac(body: string | Uint8Array, secret: string): Buffer {
  const hmac = createHmac("sha256", Buffer.from(secret, "utf8"));
  return (typeof body === "string" ? hmac.update(body, "utf8") : hmac.update(body)).digest();
}
