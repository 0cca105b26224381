/**
 * The wire format of a transaction. Legacy and version 0: the number of signatures, the signatures, then the signed
 * message. Version 1: the message, whose second byte is the number of signatures, then the signatures.
 */

const SIGNATURE_BYTES = 64;
/** Up to here a count is one byte; 1,232 bytes hold no more than 19 signatures. */
const MAX_COUNT = 0x7f;

/** The first byte of a transaction of version 1, and of its message. No count of signatures is so high. */
export const VERSION_1 = 0x81;

/** The largest transaction that the network carries: of version 1, and of any other. */
const MAX_BYTES_OF_VERSION_1 = 4_096;
const MAX_BYTES = 1_232;
// The length of its base64 text. Longer text is refused unread.
const MAX_TEXT = 4 * Math.ceil(MAX_BYTES_OF_VERSION_1 / 3);

/** The most bytes of a transaction that begins with this byte. */
export function mostBytes(first: number | undefined): number {
  return first === VERSION_1 ? MAX_BYTES_OF_VERSION_1 : MAX_BYTES;
}

/** The bytes of canonical base64 text, or why it is refused: the text is too long, or not base64. */
export function readTransactionText(
  text: string,
): { readonly bytes: Uint8Array } | { readonly refused: "too_large" | "not_base64" } {
  if (text.length > MAX_TEXT) return { refused: "too_large" };
  const decoded = Buffer.from(text, "base64");
  // Node's decoder skips unknown characters. Only canonical text survives the way back.
  if (decoded.toString("base64") !== text) return { refused: "not_base64" };
  // A copy: small buffers are windows into a memory shared with others.
  return decoded.length > mostBytes(decoded[0])
    ? { refused: "too_large" }
    : { bytes: Uint8Array.from(decoded) };
}

/** A transaction taken apart, its message unread. */
interface WireTransaction {
  readonly signatures: readonly Uint8Array[];
  readonly message: Uint8Array;
}

/** Null for bytes that are no transaction. */
export function splitTransaction(bytes: Uint8Array): WireTransaction | null {
  const isMessageFirst = bytes[0] === VERSION_1;
  const count = bytes[isMessageFirst ? 1 : 0] ?? 0;
  const length = count * SIGNATURE_BYTES;
  const start = isMessageFirst ? bytes.length - length : 1;
  // A message of version 1 has its own two bytes at least before the first signature.
  const message = isMessageFirst ? bytes.slice(0, Math.max(start, 0)) : bytes.slice(start + length);
  if (count === 0 || count > MAX_COUNT || message.length < (isMessageFirst ? 2 : 1)) return null;
  return {
    signatures: Array.from({ length: count }, (_, index) =>
      bytes.slice(start + index * SIGNATURE_BYTES, start + (index + 1) * SIGNATURE_BYTES),
    ),
    message,
  };
}

/** The bytes of a message with these signatures, zeros standing for one that is still to be made. */
export function joinTransaction(message: Uint8Array, signatures: readonly (Uint8Array | null)[]): Uint8Array {
  const filled = signatures.map((signature) => signature ?? new Uint8Array(SIGNATURE_BYTES));
  const parts =
    message[0] === VERSION_1 ? [message, ...filled] : [Uint8Array.of(filled.length), ...filled, message];
  return Uint8Array.from(Buffer.concat(parts));
}

/** Whether there is no signature here yet. */
export function isBlank(signature: Uint8Array): boolean {
  return signature.every((byte) => byte === 0);
}

/** Whether the bytes carry all required signatures, valid or not: incomplete bytes are never sent. */
export function isWhole(bytes: Uint8Array): boolean {
  return splitTransaction(bytes)?.signatures.every((signature) => !isBlank(signature)) ?? false;
}

/** Whether both are one message signed by one fee payer: the same transaction, also when others have signed meanwhile. */
export function isSameTransaction(one: Uint8Array, other: Uint8Array): boolean {
  const [first, second] = [splitTransaction(one), splitTransaction(other)];
  if (first === null || second === null) return false;
  const identity = ({ signatures: [signature], message }: WireTransaction): Buffer =>
    Buffer.concat([signature ?? new Uint8Array(), message]);
  return identity(first).equals(identity(second));
}
