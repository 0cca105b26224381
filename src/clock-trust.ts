/**
 * Tells whether a clock is trusted to judge age. After a jump ahead every row looks old: so nothing is deleted, released or
 * counted anew until the clock has run for an hour without a jump, and without a contradiction by the chain.
 */
import { elapsed, type Clock } from "./runtime.ts";

/** Between two looks a healthy clock drifts by less than this; a larger difference from elapsed time is a jump. */
const JUMP_MS = 60_000;
const AGREED_MS = 3_600_000;

interface Seen {
  /** How far the clock was ahead of the time that has passed, at the last look. */
  readonly aheadMs: number;
  /** How far off it was found, and when, by `elapsed`. */
  readonly offMs: number;
  readonly at: number;
}

/** What was seen of each clock of this process: all callers with one clock share one judgement. */
const seen = new WeakMap<Clock, Seen>();

/** Another clock, that is believed, says that this one is ahead by so many milliseconds, or behind where they are negative. */
export function contradict(clock: Clock, offMs: number): void {
  const at = elapsed(clock);
  seen.set(clock, { aheadMs: clock.now() - at, offMs, at });
}

/**
 * By how many milliseconds the clock was found to be ahead, or behind where they are negative, within the last hour; null where it
 * was right, as far as this process has looked: by this function, which is to be called from time to time.
 */
export function offBy(clock: Clock): number | null {
  const now = elapsed(clock);
  const aheadMs = clock.now() - now;
  const last = seen.get(clock) ?? { aheadMs, offMs: 0, at: now - AGREED_MS };
  const isHeld = now - last.at < AGREED_MS;
  const jumpMs = aheadMs - last.aheadMs;
  if (Math.abs(jumpMs) < JUMP_MS) {
    seen.set(clock, { ...last, aheadMs });
    return isHeld ? last.offMs : null;
  }
  const offMs = isHeld ? last.offMs + jumpMs : jumpMs;
  seen.set(clock, { aheadMs, offMs, at: now });
  return offMs;
}

/** The time by which it is judged what is old enough to end: as if the clock had not been put on. `now` is the clock's by default. */
export function agingTime(clock: Clock, now = clock.now()): number {
  return now - Math.max(0, offBy(clock) ?? 0);
}
