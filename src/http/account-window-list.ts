/** The limits that are counted in memory: how much an account has asked lately, and how it stands. */
import type { Caller } from "../payments/accounts/caller.ts";
import type { LimitStatus } from "../payments/accounts/count-hit.ts";
import type { Clock } from "../runtime.ts";
import { WINDOWS, type TierLimits, type WindowName } from "./contract/limits.ts";
import { limitExceeded, RateWindow, type Hit } from "./rate-window.ts";

/** Every in-memory limit. */
type AccountLimits = Readonly<Record<WindowName, TierLimits>>;

/** A replayed answer moves nothing, so that a caller who lost an answer may ask for it this many times as often. */
const REPLAYS_PER_REQUEST = 10;

/** Every window of every account. */
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
      creates: new RateWindow({ scope: WINDOWS.creates.scope, clock }),
      webhookTests: new RateWindow({ scope: WINDOWS.webhookTests.scope, clock }),
    };
  }

  hit(name: WindowName, { accountId, tier }: Caller): Hit {
    return this.#windows[name].hit(accountId, this.#limits[name][tier]);
  }

  /** The account's standing with one limit, without counting a request. */
  standing(name: WindowName, { accountId, tier }: Caller): LimitStatus {
    return this.#windows[name].standing(accountId, this.#limits[name][tier]);
  }

  /** The account's standing with every limit. */
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
