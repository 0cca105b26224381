/** At most so many calls of one sort at a time, in the order they were asked for. */

export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Does `act` once there is a slot for it. */
  async use<T>(act: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    // The one that leaves hands its slot to the first in the row.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/**
 * Does `act` for one item after the other in as many lanes at once, until the signal aborts: each lane takes one item
 * at least, so that every call gets on. Resolves with the items that were not begun.
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
