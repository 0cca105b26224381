/**
 * Tells whether a clock is trusted to judge age. After a jump ahead every row looks old: retention, lapses and the limits of a day
 * wait until the clock has run for an hour without a jump; and without a contradiction by the chain.
 */
import { elapsed, type Clock } from "./runtime.ts";

/** Between two looks a healthy clock drifts by less than this; a larger difference from elapsed time is a jump. */
const JUMP_MS = 60_000;
const AGREED_MS = 3_600_000;

interface Seen {
  /** The lead of the clock over the time that has passed, at the last look. */
  readonly aheadMs: number;
  /** The error of the clock, and the time of the look, by `elapsed`. */
  readonly offMs: number;
  readonly at: number;
}

/** The last look at each clock of this process: callers of the same clock share one judgement. */
const seen = new WeakMap<Clock, Seen>();

/**
 * Reports that a trusted clock disagrees: this clock is ahead by `offMs` milliseconds, or behind when `offMs` is
 * negative.
 */
export function contradict(clock: Clock, offMs: number): void {
  const at = elapsed(clock);
  seen.set(clock, { aheadMs: clock.now() - at, offMs, at });
}

/**
 * Milliseconds that the clock was found to be ahead within the last hour, negative when behind; null when the clock was
 * right. This process notices a jump only by calling this function, so call it from time to time.
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

/** The time that judges age: the clock's time without a found lead. `now` is the clock's by default. */
export function agingTime(clock: Clock, now = clock.now()): number {
  return now - Math.max(0, offBy(clock) ?? 0);
}
