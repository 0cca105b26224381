/** Reads an answer's text, up to a limit: a server that never stops sending must not fill the memory. */

/** A page of lists holds 100 elements; the largest of them is far smaller than this. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

interface Chunk {
  readonly done: boolean;
  /** Absent at the end. */
  readonly value?: Uint8Array;
}

/** The whole text. Rejects when it is too long, and with the reason of `signal` when that aborts. */
export async function boundedText(response: Response, signal: AbortSignal): Promise<string> {
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = (await reader.read()) as Chunk;
      signal.throwIfAborted();
      if (done || value === undefined) return text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    // Cancelling a finished stream does nothing. The sender's reaction is not awaited.
    reader.cancel().catch(() => {});
  }
}
