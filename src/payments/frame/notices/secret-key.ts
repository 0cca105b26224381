/** The key behind the secret of a webhook, read alike by the sender and by receivers; needs nothing of Node. */

const PREFIX = "whsec_";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Bytes of the shortest key behind `whsec_`. */
const MIN_KEY_BYTES = 16;

/** The key of `webhook-signature`: the decoded base64 behind `whsec_`, or the UTF-8 bytes of any other secret. */
export function keyOfSecret(secret: string): Uint8Array<ArrayBuffer> {
  const decoded = decodedKey(secret);
  return decoded === null || decoded.length === 0 ? new TextEncoder().encode(secret) : decoded;
}

/** False for a secret that begins with `whsec_` and has no base64 of at least 16 bytes behind: other verifiers read it differently. */
export function isReadAlike(secret: string): boolean {
  return !secret.startsWith(PREFIX) || (decodedKey(secret)?.length ?? 0) >= MIN_KEY_BYTES;
}

/** Null without the prefix, and for what is no padded base64. */
function decodedKey(secret: string): Uint8Array<ArrayBuffer> | null {
  const base64 = secret.slice(PREFIX.length);
  if (!secret.startsWith(PREFIX) || !BASE64.test(base64)) return null;
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}
