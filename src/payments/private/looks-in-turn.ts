/** Looks at an order, one after the other: many transfers that land at once would have it read the same as often. */

/** Looks of one process: others are kept apart by the versions of the rows. */
export class LooksInTurn {
  readonly #newest = new Map<string, Promise<unknown>>();

  /** Waits for the look before it. Undefined if another one is asked for meanwhile: that one reads what this one would. */
  async take<Outcome>(id: string, look: () => Promise<Outcome>): Promise<Outcome | undefined> {
    const turn: Promise<Outcome | undefined> = this.#before(id).then(() =>
      this.#newest.get(id) === turn ? look() : undefined,
    );
    this.#newest.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.#newest.get(id) === turn) this.#newest.delete(id);
    }
  }

  /** The end of the look before, whatever became of it. */
  async #before(id: string): Promise<void> {
    await this.#newest.get(id)?.catch(() => {});
  }
}

/** The most looks that are remembered: one that is forgotten is only tried once more than it had to be. */
const MOST_FAILED = 10_000;

/**
 * Looks of one process that have failed, each with the version of its order or transfer at that time. While endpoints differ a
 * look is tried again and again, and each step asks for one more: without an end of the older ones they would grow in number.
 */
export class FailedLooks {
  readonly #versions = new Map<string, number>();

  /** Undefined for a look behind which a step was made since it failed: that step has asked for a look of its own. */
  async take<Outcome>(
    { key, version }: { readonly key: string; readonly version: number },
    look: () => Promise<Outcome>,
  ): Promise<Outcome | undefined> {
    const failedAt = this.#versions.get(key);
    this.#versions.delete(key);
    if (failedAt !== undefined && failedAt !== version) return undefined;
    try {
      return await look();
    } catch (error) {
      this.#versions.set(key, version);
      const [oldest] = this.#versions.keys();
      if (this.#versions.size > MOST_FAILED && oldest !== undefined) this.#versions.delete(oldest);
      throw error;
    }
  }
}
