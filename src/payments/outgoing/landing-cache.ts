/** Remembers what the newest landings of this process cost and how long they took, for health and its metrics. */

/** A payment that landed. */
interface Landing {
  /** What the network charged, in lamports. */
  readonly networkFee: number;
  /** From the plan to the block, in milliseconds. */
  readonly landedAfterMs: number;
}

/** Medians of the newest landings, up to a hundred. */
export interface LandingFigures extends Landing {
  readonly count: number;
}

const REMEMBERED = 100;

export class LandingCache {
  readonly #newest: Landing[] = [];

  note({ networkFee, landedAfterMs }: Landing): void {
    this.#newest.push({ networkFee, landedAfterMs: Math.max(0, landedAfterMs) });
    if (this.#newest.length > REMEMBERED) this.#newest.shift();
  }

  /** Null before the first landing. */
  figures(): LandingFigures | null {
    if (this.#newest.length === 0) return null;
    return {
      count: this.#newest.length,
      networkFee: medianOf(this.#newest.map(({ networkFee }) => networkFee)),
      landedAfterMs: medianOf(this.#newest.map(({ landedAfterMs }) => landedAfterMs)),
    };
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
