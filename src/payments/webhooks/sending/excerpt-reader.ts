/** Keeps the beginning of a receiver's answer, for the delivery log. */

/** Read at most this much of an answer's body: room for any honest answer, and no more memory for an endless one. */
export const MAX_RESPONSE_BYTES = 64 * 1024;

/** Keep this much of it. */
const EXCERPT_BYTES = 1024;

/** The first {@link EXCERPT_BYTES} of a body that comes in chunks. Nothing is decompressed. */
export class ExcerptReader {
  readonly #kept: Uint8Array[] = [];
  #read = 0;

  /** Takes the next chunk. False once {@link MAX_RESPONSE_BYTES} have come: no more is to be read. */
  take(chunk: Uint8Array): boolean {
    // A copy: a chunk may be a view of a buffer that is used again.
    const left = EXCERPT_BYTES - this.#read;
    if (left > 0) this.#kept.push(Buffer.from(chunk.subarray(0, left)));
    this.#read += chunk.length;
    return this.#read < MAX_RESPONSE_BYTES;
  }

  /**
   * The excerpt as text; null when no byte was received. Bytes that are no UTF-8 become U+FFFD; so does NUL, which
   * PostgreSQL does not store.
   */
  text(): string | null {
    if (this.#read === 0) return null;
    // Streaming drops a character that the cut has split instead of garbling it.
    const text = new TextDecoder().decode(Buffer.concat(this.#kept), { stream: true });
    return text.replaceAll("\0", "\uFFFD");
  }
}
