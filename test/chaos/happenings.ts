/** What happens in a run, counted, so that processes live for as long on a busy machine as on a quiet one: in happenings. */
// modules: private

export class HappeningCount {
  #soFar = 0;
  readonly #waiting = new Set<() => void>();

  /** Something has happened. */
  readonly add = (): void => {
    this.#soFar += 1;
    for (const look of this.#waiting) look();
  };

  /** Resolves when so many more things have happened. */
  readonly more = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const due = this.#soFar + count;
      const look = (): void => {
        if (this.#soFar < due) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
}
