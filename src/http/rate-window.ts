/** Sliding windows in this process's memory: exact for its own requests; the known counts of other processes take up room too. */
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

/** What the windows of one scope have in common. */
export interface WindowOptions {
  readonly scope: string;
  readonly clock: Clock;
  /** 60 by default: most limits in memory are per minute. */
  readonly windowSeconds?: number;
  /** Never more windows than this are remembered; 10,000 by default. Beyond it the longest unused begins again. */
  readonly maxKeys?: number;
}

/** Requests of one key that another process has counted, at about this time. */
export interface OthersRequests {
  readonly at: number;
  readonly count: number;
}

/** The requests that take up the room of a window. */
interface Counted {
  /** When each of this process's came. */
  readonly times: number[];
  readonly others: OthersRequests[];
}

const MINUTE_SECONDS = 60;
// Most hold a few numbers, none more than its limit.
const MAX_KEYS = 10_000;

/** The windows of one scope, one for each key. */
export class RateWindow {
  readonly #scope: string;
  readonly #clock: Clock;
  readonly #windowSeconds: number;
  readonly #maxKeys: number;
  // A Map keeps the order of insertion, and every use inserts again: the first key is the longest unused.
  readonly #windows = new Map<string, Counted>();
  /** Requests of this process since the last exchange of counts, by key. */
  #untold = new Map<string, number>();
  #counted: () => void = () => {};

  constructor({ scope, clock, windowSeconds = MINUTE_SECONDS, maxKeys = MAX_KEYS }: WindowOptions) {
    this.#scope = scope;
    this.#clock = clock;
    this.#windowSeconds = windowSeconds;
    this.#maxKeys = maxKeys;
  }

  /** Calls back whenever a request was counted. */
  onCounted(listener: () => void): void {
    this.#counted = listener;
  }

  /** What was counted since the last call, by key. */
  takeCounted(): Readonly<Record<string, number>> {
    const untold = [...this.#untold].filter(([, count]) => count > 0);
    this.#untold = new Map();
    return Object.fromEntries(untold);
  }

  /** Takes room for what another process has counted. Nothing is refused here that was accepted before. */
  addOthers(key: string, requests: OthersRequests): void {
    const counted = this.#use(key);
    // A key may be used at other processes alone: no hit here would ever drop what is old.
    this.#dropOld(counted);
    counted.others.push(requests);
  }

  /** Whether nothing has been counted of any key. */
  get isEmpty(): boolean {
    return this.#windows.size === 0;
  }

  /** How `key` stands, without counting anything. */
  standing(key: string, limit: number): LimitStanding {
    const counted = this.#windows.get(key) ?? { times: [], others: [] };
    this.#dropOld(counted);
    return this.#standing(counted, limit);
  }

  /** Counts a request of `key` unless `limit` of them lie within the window already. */
  hit(key: string, limit: number): Hit {
    const now = this.#clock.now();
    const counted = this.#use(key);
    this.#dropOld(counted);
    const accepted = sizeOf(counted) < limit;
    if (accepted) this.#count(key, counted, now);
    return {
      accepted,
      standing: this.#standing(counted, limit),
      giveBack: () => {
        if (accepted) this.#takeBack(key, counted, now);
        return this.#standing(counted, limit);
      },
    };
  }

  #count(key: string, { times }: Counted, now: number): void {
    times.push(now);
    this.#untold.set(key, (this.#untold.get(key) ?? 0) + 1);
    this.#counted();
  }

  #takeBack(key: string, { times }: Counted, now: number): void {
    const at = times.lastIndexOf(now);
    if (at < 0) return;
    times.splice(at, 1);
    const untold = this.#untold.get(key);
    if (untold !== undefined) this.#untold.set(key, untold - 1);
  }

  #use(key: string): Counted {
    const counted = this.#windows.get(key) ?? { times: [], others: [] };
    this.#windows.delete(key);
    const [longestUnused] = this.#windows.keys();
    if (longestUnused !== undefined && this.#windows.size >= this.#maxKeys) {
      this.#windows.delete(longestUnused);
    }
    this.#windows.set(key, counted);
    return counted;
  }

  #standing(counted: Counted, limit: number): LimitStanding {
    const now = this.#clock.now();
    const { times, others } = counted;
    const oldest = Math.min(times[0] ?? now, others[0]?.at ?? now);
    return {
      scope: this.#scope,
      limit,
      windowSeconds: this.#windowSeconds,
      remaining: Math.max(0, limit - sizeOf(counted)),
      resetSeconds: Math.max(1, Math.ceil((oldest + this.#windowSeconds * 1_000 - now) / 1_000)),
    };
  }

  #dropOld({ times, others }: Counted): void {
    const since = this.#clock.now() - this.#windowSeconds * 1_000;
    while (times[0] !== undefined && times[0] <= since) times.shift();
    while (others[0] !== undefined && others[0].at <= since) others.shift();
  }
}

function sizeOf({ times, others }: Counted): number {
  return others.reduce((sum, { count }) => sum + count, times.length);
}
