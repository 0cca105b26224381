/** Whether a task in hand is still ours. */
export class Hold {
  #isLost = false;
  #abort: AbortController | null = null;
  #isDisarmed = false;
  #onDisarmed: () => void = () => {};

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Aborts when the hold is lost. Made only when somebody asks for it: most never do, and it costs as much as a read. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#isLost) this.#abort.abort();
    return this.#abort.signal;
  }

  /** Whether the chart has left the state that the task belongs to: its end is of no interest any more. */
  get isDisarmed(): boolean {
    return this.#isDisarmed;
  }

  /** Resolves when the hold is disarmed; asked for by one reader at most. */
  untilDisarmed(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDisarmed = resolve;
      if (this.#isDisarmed) resolve();
    });
  }

  disarm(): void {
    this.#isDisarmed = true;
    this.lose();
    this.#onDisarmed();
  }

  lose(): void {
    this.#isLost = true;
    this.#abort?.abort();
  }
}
