/** The machine's own clock: what timers of the platform cannot do, it does. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/runtime.ts";

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
