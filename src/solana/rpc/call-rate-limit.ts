/** Keeps to an endpoint's rate limit instead of running into it: providers count refused calls too. */
import type { Clock } from "../../core/runtime.ts";
import { EndpointFailure } from "../endpoint-failure.ts";

// A second's worth of calls may be made at once, as providers allow, and at least one; a poll and a request of the API
// then do not wait for each other.
const BURST_MS = 1_000;
// Past this the caller is better served by another endpoint, or by an error.
const MAX_WAIT_MS = 4_000;

/** A token bucket of a second's calls, kept as the moment at which it will be full again. */
export class CallRateLimit {
  readonly #clock: Clock;
  readonly #closed: AbortSignal;
  /** Calls per second. */
  readonly #rate: number;
  #fullAt = 0;
  #askedAt = 0;

  constructor(requestsPerSecond: number, clock: Clock, closed: AbortSignal) {
    this.#rate = requestsPerSecond;
    this.#clock = clock;
    this.#closed = closed;
  }

  get burst(): number {
    return Math.max(1, Math.floor((this.#rate * BURST_MS) / 1_000));
  }

  /** Whether a call that is made now need not wait. */
  get hasRoom(): boolean {
    const interval = 1_000 / this.#rate;
    return this.#fullAt + interval - this.#clock.now() <= Math.max(BURST_MS, interval);
  }

  /** Takes a call that leaves at once and leaves room for `spare` more at once; false where there is no such room. */
  take(spare: number): boolean {
    const now = this.#clock.now();
    // After a clock that was set back, and after a long rest, the bucket is full.
    const isEmpty = this.#fullAt - now > 2 * BURST_MS;
    const interval = 1_000 / this.#rate;
    const next = (isEmpty ? now : Math.max(this.#fullAt, now)) + interval;
    if (next + interval * spare - now > Math.max(BURST_MS, interval)) return false;
    this.#fullAt = next;
    return true;
  }

  /**
   * Resolves when so many calls more may be made, in the order asked. Throws `EndpointFailure` when the queue is too long.
   */
  async next(calls: number): Promise<void> {
    const now = this.#clock.now();
    // A clock that was set back must not hold calls up until it has caught up.
    this.#fullAt -= Math.max(0, this.#askedAt - now);
    this.#askedAt = now;
    const interval = 1_000 / this.#rate;
    const next = Math.max(this.#fullAt, now) + interval * calls;
    const wait = next - now - Math.max(BURST_MS, interval);
    if (wait > MAX_WAIT_MS) {
      throw new EndpointFailure("busy", "more calls than its rate limit allows", { retryAfterMs: wait });
    }
    this.#fullAt = next;
    if (wait > 0) await this.#clock.sleep(wait, this.#closed);
  }
}
