/** The machine's own clock and chance: what timers of the platform cannot do, the clock does. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock, systemRandom } from "../../src/core/runtime.ts";

const MAX_TIMER_MS = 2 ** 31 - 1;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Whether the promise has resolved by now. */
function watched(promise: Promise<unknown>): () => boolean {
  let isOver = false;
  void promise.then(() => {
    isOver = true;
  });
  return () => isOver;
}

test.each([MAX_TIMER_MS + 1, 2 ** 31 + 5_000, 3 * 2 ** 31])(
  "a sleep of %d ms ends then and not before",
  async (ms) => {
    const isOver = watched(systemClock.sleep(ms));
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(isOver()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver()).toBe(true);
  },
);

test("a sleep without end spins no timer, and ends when its signal aborts", async () => {
  const waking = new AbortController();
  const isOver = watched(systemClock.sleep(Infinity, waking.signal));
  await vi.advanceTimersByTimeAsync(10 * MAX_TIMER_MS);
  expect(isOver()).toBe(false);
  expect(vi.getTimerCount()).toBe(1);
  waking.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(isOver()).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("no chance is given twice, however much is asked for at once", () => {
  const texts = Array.from({ length: 6_000 }, (_, index) => {
    const length = [8, 10, 16, 32][index % 4] ?? 0;
    const bytes = systemRandom.bytes(length);
    expect(bytes.length).toBe(length);
    return Buffer.from(bytes).toString("hex");
  });
  // Also not as a part of what is longer.
  const starts = new Set(texts.map((text) => text.slice(0, 16)));
  expect(starts.size).toBe(texts.length);
  expect(texts.every((text) => new Set(text).size > 2)).toBe(true);
});
