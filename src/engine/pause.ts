/** A pause that can be ended early; an end that comes before the pause has begun ends it as it begins. */
import type { Clock } from "../runtime.ts";

export class Pause {
  readonly #clock: Clock;
  #isEnded = false;
  #wake: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the present pause, or the next one. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Resolves after `ms`, when it is ended, or when the signal aborts. */
  async take(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isEnded && !signal.aborted) {
      const asleep = new AbortController();
      const wake = (): void => asleep.abort();
      this.#wake = wake;
      signal.addEventListener("abort", wake, { once: true });
      await this.#clock.sleep(ms, asleep.signal);
      signal.removeEventListener("abort", wake);
      this.#wake = () => {};
    }
    this.#isEnded = false;
  }
}
