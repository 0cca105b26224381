/** Answers that are made to stop whoever reads them, and how long the event loop stood still meanwhile. */
import { expect } from "vitest";
import { longestBlock } from "../http/longest-block.ts";

export const MIB = 1_024 * 1_024;
export const MAX_BLOCK_MS = 50;
// A busy machine can only make a pause longer than the work in it, so the shortest of some is nearest to the truth.
const MAX_TRIES = 8;
const CHUNK = 64 * 1_024;

/** A body of one piece over and over between a beginning and an end, each chunk in a turn of its own. */
export function poured(start: string, piece: string, bytes: number, end = ""): Response {
  const chunk = Buffer.from(piece.repeat(Math.floor(CHUNK / piece.length)));
  let left = bytes;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(start)),
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      if (left > 0) controller.enqueue(chunk);
      else controller.enqueue(Buffer.from(end));
      if (left <= 0) controller.close();
      left -= chunk.length;
    },
  });
  return new Response(body);
}

export const FRAME = '{"jsonrpc":"2.0","id":"1","result":';

/** What a hostile program answers. */
export const HOSTILE_ANSWERS: Readonly<Record<string, () => Response>> = {
  "15 MB of lists that never close": () => poured(FRAME, "[", 15 * MIB),
  "15 MB of objects that never close": () => poured(FRAME, '{"a":', 15 * MIB),
  "31 MB of valid lists": () => poured(`${FRAME}[`, "[],", 31 * MIB, "[]]}"),
  "31 MB of valid numbers": () => poured(`${FRAME}[`, "1,", 31 * MIB, "1]}"),
  "31 MB of valid text": () => poured(`${FRAME}"`, "a", 31 * MIB, '"}'),
};

/** `work` keeps the event loop for so many milliseconds at most. */
export async function expectHarmless(work: () => Promise<unknown>, most = MAX_BLOCK_MS): Promise<void> {
  const blocks: number[] = [];
  do blocks.push(await longestBlock(work));
  while (blocks.length < MAX_TRIES && Math.min(...blocks) > most);
  expect(Math.min(...blocks)).toBeLessThanOrEqual(most);
}
