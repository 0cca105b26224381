/** A clock whose hands a test turns. */
import type { Clock } from "../../src/core/runtime.ts";

/** Time stands still until it is set; sleepers wake when their time has come. */
export interface VirtualClock extends Clock {
  /** Sets the time, never back, and wakes every sleeper whose time has come. */
  set(time: number): void;
  /** Sets the time forward by `ms`. */
  advance(ms: number): void;
  /** Puts the hands of the clock back or on while no time passes, as an administrator does. */
  put(ms: number): void;
}

interface Sleeper {
  readonly wakeAt: number;
  readonly wake: () => void;
}

/**
 * A virtual clock that starts at `start`, by default 2026-01-01T00:00:00Z.
 *
 * @example
 * ```ts
 * import { virtualClock } from "paystate/testing";
 *
 * const clock = virtualClock(0);
 * const woken = clock.sleep(60_000).then(() => clock.now());
 * clock.advance(60_000);
 * console.log(await woken); // 60000
 * ```
 */
export function virtualClock(start = Date.UTC(2026, 0, 1)): VirtualClock {
  let time = start;
  let put = 0;
  const sleepers = new Set<Sleeper>();
  const set = (next: number): void => {
    const passed = next - time - put;
    if (passed < 0) throw new RangeError("a clock is never turned back");
    time += passed;
    for (const sleeper of [...sleepers]) if (sleeper.wakeAt <= time) sleeper.wake();
  };
  return {
    now: () => time + put,
    elapsed: () => time,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true || ms <= 0) return resolve();
        const sleeper: Sleeper = {
          wakeAt: time + ms,
          wake: () => {
            sleepers.delete(sleeper);
            signal?.removeEventListener("abort", sleeper.wake);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", sleeper.wake, { once: true });
      }),
    set,
    advance: (ms) => set(time + put + ms),
    put: (ms) => void (put += ms),
  };
}
