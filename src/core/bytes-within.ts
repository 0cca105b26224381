/** Reads a body that a stranger sends: no more of it than it may have. */

/** The bytes, or null where there are more than `most`: the rest is not read. */
export async function bytesWithin(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
