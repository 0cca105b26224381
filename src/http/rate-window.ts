/** Exact sliding windows in this process's memory, for what need not be counted across processes. */
import type { LimitStanding } from "../payments/accounts/count-hit.ts";
import type { Clock } from "../runtime.ts";

/** One counted request. */
export interface Hit {
  /** False when the window was full; then nothing was counted, so that waiting `resetSeconds` is enough. */
  readonly accepted: boolean;
  readonly standing: LimitStanding;
  /** Takes the hit back and returns the standing without it: a replayed answer costs nothing. */
  giveBack(): LimitStanding;
}

/** The windows of one scope, one for each key. */
export interface RateWindow {
  /** Counts a request of `key` unless `limit` of them lie within the window already. */
  hit(key: string, limit: number): Hit;
  /** How `key` stands, without counting anything. */
  standing(key: string, limit: number): LimitStanding;
}

/** Most in-memory limits are per minute. */
const MINUTE_SECONDS = 60;
// Most hold a few numbers, none more than its limit. Beyond this the longest unused is forgotten and begins anew.
const MOST_KEYS = 10_000;

/** Makes the windows of a scope; never more than `mostKeys` of them are remembered. */
export function createRateWindow({
  scope,
  clock,
  windowSeconds = MINUTE_SECONDS,
  mostKeys = MOST_KEYS,
}: {
  readonly scope: string;
  readonly clock: Clock;
  readonly windowSeconds?: number;
  readonly mostKeys?: number;
}): RateWindow {
  // A Map keeps the order of insertion, and every use inserts anew: the first key is the longest unused.
  const windows = new Map<string, number[]>();

  const windowOf = (key: string): number[] => {
    const times = windows.get(key) ?? [];
    windows.delete(key);
    const [longestUnused] = windows.keys();
    if (longestUnused !== undefined && windows.size >= mostKeys) windows.delete(longestUnused);
    windows.set(key, times);
    return times;
  };

  const standing = (times: readonly number[], limit: number): LimitStanding => {
    const now = clock.now();
    const [oldest = now] = times;
    return {
      scope,
      limit,
      windowSeconds,
      remaining: Math.max(0, limit - times.length),
      resetSeconds: Math.max(1, Math.ceil((oldest + windowSeconds * 1_000 - now) / 1_000)),
    };
  };

  const dropOld = (times: number[]): void => {
    const since = clock.now() - windowSeconds * 1_000;
    while (times[0] !== undefined && times[0] <= since) times.shift();
  };

  return {
    standing(key, limit) {
      const times = windows.get(key) ?? [];
      dropOld(times);
      return standing(times, limit);
    },
    hit(key, limit) {
      const now = clock.now();
      const times = windowOf(key);
      dropOld(times);
      const accepted = times.length < limit;
      if (accepted) times.push(now);
      return {
        accepted,
        standing: standing(times, limit),
        giveBack() {
          const at = accepted ? times.lastIndexOf(now) : -1;
          if (at >= 0) times.splice(at, 1);
          return standing(times, limit);
        },
      };
    },
  };
}
