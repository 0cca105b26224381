/** The health of a service for those who ask often: probes and scrapers of metrics, which may be strangers. */
import type { Clock } from "../core/runtime.ts";
import type { Health } from "./read-health.ts";

/** A source of health, such as a payment service. */
export interface HealthSource {
  health(): Promise<Health>;
}

// Each reading costs reads of the database and calls to each node.
const MAX_AGE_MS = 1_000;

/** Reads health at most once a second, once for all who ask at a time. */
export class HealthCache {
  readonly #source: HealthSource;
  readonly #clock: Clock;
  #reading: Promise<Health> | null = null;
  /** The end of the last reading; null while a reading is under way. */
  #readAt: number | null = null;

  constructor(source: HealthSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Health that is being read now, or is at most a second old. Never rejects. */
  read(): Promise<Health> {
    if (this.#reading === null || this.#isOld()) {
      this.#readAt = null;
      this.#reading = this.#source.health().finally(() => {
        this.#readAt = this.#clock.now();
      });
    }
    return this.#reading;
  }

  #isOld(): boolean {
    if (this.#readAt === null) return false;
    const age = this.#clock.now() - this.#readAt;
    // Negative where the clock was set back.
    return age < 0 || age >= MAX_AGE_MS;
  }
}
