/** A semaphore whose queue is in order of turns, and first come first served among equal turns. */

export class Semaphore {
  #free: number;
  readonly #waiting: { readonly turn: number; readonly go: () => void }[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Does `act` once there is a slot for it; of those who wait, the lowest `turn` goes first. */
  async use<T>(act: () => Promise<T>, turn = 0): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    // A leaving caller hands its slot to the next in the queue.
    else await new Promise<void>((go) => this.#wait(turn, go));
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next.go();
    }
  }

  #wait(turn: number, go: () => void): void {
    const behind = this.#waiting.findLastIndex((other) => other.turn <= turn);
    this.#waiting.splice(behind + 1, 0, { turn, go });
  }
}

/**
 * Runs `act` for every item, in `lanes` parallel lanes, until the signal aborts. A lane takes at least one item, so
 * every call makes progress. Resolves with the items that were not begun.
 */
export async function inLanes<T>(
  { lanes, signal }: { readonly lanes: number; readonly signal: AbortSignal },
  items: readonly T[],
  act: (item: T) => Promise<void>,
): Promise<readonly T[]> {
  let next = 0;
  const lane = async (): Promise<void> => {
    do {
      const item = items[next];
      if (item === undefined) return;
      next += 1;
      await act(item);
    } while (!signal.aborted);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
  return items.slice(next);
}
