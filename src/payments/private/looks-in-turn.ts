/** Looks at an order, one after the other: many transfers that land at once would have it read the same as often. */

/** Of one process: others are kept apart by the versions of the rows. */
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
