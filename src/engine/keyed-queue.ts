/** Queues by key: callers that would only lose a race against each other wait for their turn. */

/** A set of queues, one per key. A key without a caller takes no memory. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Calls `act` when every earlier call under the same key has ended, with success or not. */
  take<T>(key: string, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = before === undefined ? act() : before.then(act, act);
    this.#last.set(key, turn);
    const leave = (): void => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    turn.then(leave, leave);
    return turn;
  }
}
