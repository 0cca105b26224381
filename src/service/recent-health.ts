/** The health of a service for those who ask often: probes and scrapers of metrics, which may be strangers. */
import type { Clock } from "../runtime.ts";
import type { Health } from "./read-health.ts";

/** What can be asked for its health, such as a payment service. */
export interface HealthSource {
  health(): Promise<Health>;
}

// Each reading costs reads of the database and calls to each node.
const MAX_AGE_MS = 1_000;

/** Reads health at most once a second, once for all who ask at a time. */
export class RecentHealth {
  readonly #source: HealthSource;
  readonly #clock: Clock;
  #reading: Promise<Health> | null = null;
  #readAt = 0;

  constructor(source: HealthSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** As it was no longer than a second ago. Never rejects. */
  read(): Promise<Health> {
    const age = this.#clock.now() - this.#readAt;
    // Negative where the clock was set back.
    if (this.#reading === null || age < 0 || age >= MAX_AGE_MS) {
      this.#readAt = this.#clock.now();
      this.#reading = this.#source.health();
    }
    return this.#reading;
  }
}
