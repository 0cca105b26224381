/** The limits that are counted in memory: sliding windows, exact for the requests of this process, and how a caller stands. */
import type { LimitStatus } from "../payments/frame/accounts/count-hit.ts";
import type { Clock } from "../core/runtime.ts";
import { PaymentError } from "../errors/errors.ts";
import type { Tier } from "../payments/frame/tables/identity.ts";
import type { Caller } from "../payments/frame/accounts/caller.ts";
import { WINDOWS, type TierLimits, type WindowName } from "./contract/limits.ts";

export interface WindowCount {
  /** False when the window was full; the request was not counted, so waiting `resetSeconds` is enough. */
  readonly accepted: boolean;
  readonly standing: LimitStatus;
  /** Takes the hit back and returns the standing without it: a replayed answer costs nothing. */
  giveBack(): LimitStatus;
}

interface WindowOptions {
  readonly scope: string;
  readonly clock: Clock;
  /** 60 by default: most limits in memory are per minute. */
  readonly windowSeconds?: number;
  /** Never more windows than this are remembered; 10,000 by default. Beyond it the longest unused begins again. */
  readonly maxKeys?: number;
}

const MINUTE_SECONDS = 60;
// Most windows hold a few numbers, and never more than the limit.
const MAX_KEYS = 10_000;

/** Sliding windows of one scope, one window for each key. */
export class RateWindow {
  readonly #scope: string;
  readonly #clock: Clock;
  readonly #windowSeconds: number;
  readonly #maxKeys: number;
  // A Map keeps the order of insertion, and every use inserts again: the first key is the longest unused.
  /** Times of the requests, by key. */
  readonly #windows = new Map<string, number[]>();

  constructor({ scope, clock, windowSeconds = MINUTE_SECONDS, maxKeys = MAX_KEYS }: WindowOptions) {
    this.#scope = scope;
    this.#clock = clock;
    this.#windowSeconds = windowSeconds;
    this.#maxKeys = maxKeys;
  }

  get isEmpty(): boolean {
    return this.#windows.size === 0;
  }

  /** The standing of `key`, without counting a request. */
  standing(key: string, limit: number): LimitStatus {
    const times = this.#windows.get(key) ?? [];
    this.#dropOld(times);
    return this.#standing(times, limit);
  }

  /**
   * Counts a request of `key`, as `weight` of them and as the whole limit at most, unless the window has too little room
   * left.
   */
  hit(key: string, limit: number, weight = 1): WindowCount {
    const now = this.#clock.now();
    const times = this.#use(key);
    this.#dropOld(times);
    const counted = Math.min(weight, limit);
    const excess = times.length + counted - limit;
    const accepted = excess <= 0;
    if (accepted) for (let each = 0; each < counted; each++) times.push(now);
    return {
      accepted,
      standing: this.#standing(times, limit, accepted ? 0 : excess - 1),
      giveBack: () => {
        const end = accepted ? times.lastIndexOf(now) + 1 : 0;
        if (end > 0) times.splice(end - counted, counted);
        return this.#standing(times, limit);
      },
    };
  }

  #use(key: string): number[] {
    const times = this.#windows.get(key) ?? [];
    this.#windows.delete(key);
    const [longestUnused] = this.#windows.keys();
    if (longestUnused !== undefined && this.#windows.size >= this.#maxKeys) {
      this.#windows.delete(longestUnused);
    }
    this.#windows.set(key, times);
    return times;
  }

  /** `leaving` is the place of the request that has to leave the window first. */
  #standing(times: readonly number[], limit: number, leaving = 0): LimitStatus {
    const now = this.#clock.now();
    const oldest = times[leaving] ?? now;
    return {
      scope: this.#scope,
      limit,
      windowSeconds: this.#windowSeconds,
      remaining: Math.max(0, limit - times.length),
      resetSeconds: Math.max(1, Math.ceil((oldest + this.#windowSeconds * 1_000 - now) / 1_000)),
    };
  }

  #dropOld(times: number[]): void {
    const since = this.#clock.now() - this.#windowSeconds * 1_000;
    while (times[0] !== undefined && times[0] <= since) times.shift();
  }
}

/** Writes `RateLimit-Policy: "reads";q=120;w=60` and `RateLimit: "reads";r=119;t=60`, over existing values. */
export function writeRateLimit(
  headers: Headers,
  { scope, limit, windowSeconds, remaining, resetSeconds }: LimitStatus,
): void {
  headers.set("ratelimit-policy", `"${scope}";q=${limit};w=${windowSeconds}`);
  headers.set("ratelimit", `"${scope}";r=${remaining};t=${resetSeconds}`);
}

/** `tier` is "none" for a client without an account. */
export function limitExceeded(
  { scope, limit, windowSeconds, resetSeconds: retryAfter }: LimitStatus,
  tier: Tier | "none",
): PaymentError<"RATE_LIMIT_EXCEEDED"> {
  return new PaymentError("RATE_LIMIT_EXCEEDED", { scope, limit, windowSeconds, retryAfter, tier });
}

type AccountLimits = Readonly<Record<WindowName, TierLimits>>;

/** A replayed answer moves nothing, so that a caller who lost an answer may ask for it this many times as often. */
const REPLAYS_PER_REQUEST = 10;

export class AccountWindowList {
  readonly #limits: AccountLimits;
  readonly #clock: Clock;
  readonly #windows: Readonly<Record<WindowName, RateWindow>>;
  /** Replay windows, by the scope of the replayed requests. */
  readonly #replays = new Map<string, RateWindow>();

  constructor(limits: AccountLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#windows = {
      reads: new RateWindow({ scope: WINDOWS.reads.scope, clock }),
      quotes: new RateWindow({ scope: WINDOWS.quotes.scope, clock }),
      quoteParties: new RateWindow({ scope: WINDOWS.quoteParties.scope, clock }),
      creates: new RateWindow({ scope: WINDOWS.creates.scope, clock }),
      webhookTests: new RateWindow({ scope: WINDOWS.webhookTests.scope, clock }), // modules: webhooks
    };
  }

  /** Counts a request, as `weight` of them. */
  hit(name: WindowName, { accountId, tier }: Caller, weight = 1): WindowCount {
    return this.#windows[name].hit(accountId, this.#limits[name][tier], weight);
  }

  /** The account's standing with one limit, without counting a request. */
  standing(name: WindowName, { accountId, tier }: Caller): LimitStatus {
    return this.#windows[name].standing(accountId, this.#limits[name][tier]);
  }

  standings(caller: Caller): readonly LimitStatus[] {
    return (Object.keys(this.#windows) as WindowName[]).map((name) => this.standing(name, caller));
  }

  /** Counts a replay of what `of` limits. Throws `RATE_LIMIT_EXCEEDED`. */
  hitReplay({ scope, limit, windowSeconds }: LimitStatus, { accountId, tier }: Caller): void {
    const window =
      this.#replays.get(scope) ?? new RateWindow({ scope: "replays", clock: this.#clock, windowSeconds });
    this.#replays.set(scope, window);
    const { accepted, standing } = window.hit(accountId, limit * REPLAYS_PER_REQUEST);
    if (!accepted) throw limitExceeded(standing, tier);
  }
}
