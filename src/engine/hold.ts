/** Whether a task in hand is still ours. */
export class Hold {
  #isLost = false;
  #abort: AbortController | null = null;

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Aborts when the hold is lost. Made only when somebody asks for it: most never do, and it costs as much as a read. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#isLost) this.#abort.abort();
    return this.#abort.signal;
  }

  lose(): void {
    this.#isLost = true;
    this.#abort?.abort();
  }
}
