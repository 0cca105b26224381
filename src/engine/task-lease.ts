/** Whether this process still holds the lease of a task in hand, and whether the chart still waits for its end. */
export class TaskLease {
  isLost = false;
  /** Whether the chart has left the state that the task belongs to: no chart waits for its end any more. */
  isDisarmed = false;
  #abort: AbortController | null = null;
  #onDisarmed: () => void = () => {};

  /** Aborts when the hold is lost. Made when it is first read: most tasks never read it, and making it is slow. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.isLost) this.#abort.abort();
    return this.#abort.signal;
  }

  /** Resolves when the hold is disarmed. One caller at most may wait for it. */
  untilDisarmed(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDisarmed = resolve;
      if (this.isDisarmed) resolve();
    });
  }

  disarm(): void {
    this.isDisarmed = true;
    this.lose();
    this.#onDisarmed();
  }

  lose(): void {
    this.isLost = true;
    this.#abort?.abort();
  }
}
