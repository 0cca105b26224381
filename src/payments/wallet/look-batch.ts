/** Gathers items into small batches, so that not every item costs a commit of its own. */
import type { Clock } from "../../runtime.ts";

/** Nothing waits longer for others to join it. */
const GATHER_MS = 50;

/** One look's gathering, until its end. */
export class LookBatch<T> {
  readonly #clock: Clock;
  readonly #handOn: (batch: readonly T[]) => Promise<void>;
  readonly #ending = new AbortController();
  readonly #handed: Promise<void>[] = [];
  #gathered: T[] = [];

  constructor(clock: Clock, handOn: (batch: readonly T[]) => Promise<void>) {
    this.#clock = clock;
    this.#handOn = handOn;
  }

  /** Hands it on within 50 ms, with all that is added until then. */
  add(item: T): void {
    this.#gathered.push(item);
    if (this.#gathered.length > 1) return;
    const gathered = this.#clock.sleep(GATHER_MS, this.#ending.signal);
    this.#handed.push(
      gathered.then(async () => {
        const batch = this.#gathered;
        this.#gathered = [];
        await this.#handOn(batch);
      }),
    );
  }

  /** Hands on what is left, at once; resolves when everything is handed on. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#handed);
  }
}
