/** A pause that can be ended early; an end that comes before the pause has begun ends it as it begins. */
import type { Clock } from "../../runtime.ts";

// Handed to every abort of a sleep: a reason of its own for each would cost more than the sleep.
const AWAKE = "awake";

export class Pause {
  readonly #clock: Clock;
  /** Whether the next pause has been ended already. */
  isEnded = false;
  #wake: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the present pause, or the next one. */
  end(): void {
    this.isEnded = true;
    this.#wake();
  }

  /** The next pause is not ended by what came before this call. */
  reset(): void {
    this.isEnded = false;
  }

  /** Resolves after `ms`, when it is ended, or when the signal aborts. */
  async take(ms: number, signal?: AbortSignal): Promise<void> {
    if (!this.isEnded && signal?.aborted !== true) {
      const awake = new AbortController();
      const wake = (): void => awake.abort(AWAKE);
      this.#wake = wake;
      signal?.addEventListener("abort", wake, { once: true });
      await this.#clock.sleep(ms, awake.signal);
      signal?.removeEventListener("abort", wake);
      this.#wake = () => {};
    }
    this.isEnded = false;
  }
}
