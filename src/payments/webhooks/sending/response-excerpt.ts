/** Reads the beginning of a receiver's answer, for the delivery log. */

/** Read at most this much of an answer's body: room for any honest answer, and no more memory for an endless one. */
export const MAX_RESPONSE_BYTES = 64 * 1024;

/** Keep this much of it. */
const EXCERPT_BYTES = 1024;

/**
 * The first {@link EXCERPT_BYTES} of a body as text, or null when it is empty. Stops after {@link MAX_RESPONSE_BYTES}.
 * Never rejects: a body that breaks off or is cut by the deadline gives what came, and the status has decided already. Bytes
 * that are no UTF-8 become U+FFFD; so does NUL, which PostgreSQL does not store. Nothing is decompressed.
 */
export async function readExcerpt(body: AsyncIterable<Uint8Array>): Promise<string | null> {
  const kept = Buffer.alloc(EXCERPT_BYTES);
  let read = 0;
  try {
    for await (const chunk of body) {
      if (read < EXCERPT_BYTES) kept.set(chunk.subarray(0, EXCERPT_BYTES - read), read);
      read += chunk.length;
      if (read >= MAX_RESPONSE_BYTES) break;
    }
  } catch {
    // The answer was its status line.
  }
  if (read === 0) return null;
  // Streaming drops a character that the cut has split instead of garbling it.
  const text = new TextDecoder().decode(kept.subarray(0, read), { stream: true });
  return text.replaceAll("\0", "\uFFFD");
}
