/** Gathers items into small batches, so that not every item costs a commit of its own. */
import type { Clock } from "../../runtime.ts";

/** The longest time that an item waits for further items. */
const GATHER_MS = 50;

/** A batch of one look. */
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

  /** Adds an item to the batch, which is handed on within 50 ms. */
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

  /** Hands on the remaining items at once; resolves when all items are handed on. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#handed);
  }
}
