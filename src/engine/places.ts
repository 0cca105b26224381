/** The places of this process for tasks: each is taken by a task in hand, kept for a commit on its way, or free. */
import type { Reservation } from "./hands.ts";
import type { TasksInHand } from "./tasks-in-hand.ts";

/** How many tasks this process may have in hand at once. */
export interface PlaceLimits {
  /** Tasks without a lane. */
  readonly slots: number;
  /** Tasks with a lane, so that slow receivers never take the places of payments. */
  readonly lanedSlots: number;
}

/** Keeps no place. */
export const NO_PLACES: Reservation = { count: 0, free: 0, ending: undefined };

export class Places {
  readonly #limits: PlaceLimits;
  readonly #inHand: TasksInHand;
  /** Free places that are kept for commits on their way. */
  #reserved = 0;
  /** Whether due tasks without a lane may be waiting in the storage for a place here. */
  #isCrowded = false;

  constructor(limits: PlaceLimits, inHand: TasksInHand) {
    this.#limits = limits;
    this.#inHand = inHand;
  }

  /** Free places for tasks without a lane; negative when more tasks are in hand than there are places. */
  get free(): number {
    return this.#limits.slots - this.#reserved - this.#inHand.taken.free;
  }

  /** Free places for tasks with a lane. */
  get laned(): number {
    return this.#limits.lanedSlots - this.#inHand.taken.laned;
  }

  get hasReserved(): boolean {
    return this.#reserved > 0;
  }

  /** A claim for as many tasks without a lane as there were free places, `asked`, found `found` of them. */
  claimed(asked: number, found: number): void {
    this.#isCrowded = found >= asked;
  }

  /** See `Hands.reserve`. */
  reserve(wanted: number, ending: string | undefined): Reservation {
    // A task leaves its place to what follows from it, unless something else may be waiting for one.
    const inherited = wanted > 0 && !this.#isCrowded && this.#inHand.isWithoutLane(ending) ? 1 : 0;
    const free = Math.min(wanted - inherited, Math.max(0, this.free));
    const count = inherited + free;
    if (count < wanted) this.#isCrowded = true;
    this.#reserved += free;
    return { count, free, ending };
  }

  /** The places that were kept are free again. */
  release({ free }: Reservation): void {
    this.#reserved -= free;
  }
}
