/** Queues by key: callers that would only lose a race against each other wait for their turn. */

/** A set of queues, one per key. A key without a caller takes no memory. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #failsAll: (error: unknown) => boolean;

  /** @param failsAll Whether a call's error is that of all who wait behind it as well. Default: each tries for itself. */
  constructor(failsAll: (error: unknown) => boolean = () => false) {
    this.#failsAll = failsAll;
  }

  /** Calls `act` when every earlier call under the same key has ended, with success or not. */
  take<T>(key: string, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const afterFailure = (error: unknown): Promise<T> => {
      if (this.#failsAll(error)) throw error;
      return act();
    };
    const turn = before === undefined ? act() : before.then(act, afterFailure);
    this.#last.set(key, turn);
    const leave = (): void => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    turn.then(leave, leave);
    return turn;
  }
}
