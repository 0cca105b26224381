/** A pause that ends early when the alarm is rung; rung while nobody waits, the next wait is over at once. */
import type { Clock } from "../../runtime.ts";

export class AlarmPause {
  readonly #clock: Clock;
  #isRung = false;
  #wake: AbortController | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#isRung = true;
    this.#wake?.abort();
  }

  /** Resolves after `ms`, however often it is rung meanwhile. */
  rest(ms: number): Promise<void> {
    return this.#clock.sleep(ms);
  }

  /** Resolves after `ms`, or when it is rung, or at once when it was since the last wait. */
  async wait(ms: number): Promise<void> {
    if (!this.#isRung && ms > 0) {
      this.#wake = new AbortController();
      await this.#clock.sleep(ms, this.#wake.signal);
      this.#wake = null;
    }
    this.#isRung = false;
  }
}
