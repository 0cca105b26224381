/** Waits for what a process does on a virtual clock that nobody else turns. */
import type { VirtualClock } from "../../kit/virtual-clock.ts";

/** A promise that takes longer than so many turns of the event loop waits for the clock: a call that failed pauses. */
const PATIENCE = 40;
const PAUSE_MS = 250;
/** A look that takes longer than the pause between two of them is always under way: whoever waits for its end goes on. */
const MAX_TURNS = 3_000;

/** Turns the clock whenever a process seems to wait for that. What a dead process was at never ends. */
export class Turning {
  readonly #clock: VirtualClock;
  #processes = 0;

  constructor({ clock }: { readonly clock: VirtualClock }) {
    this.#clock = clock;
  }

  /** There is a new process: nobody waits for what those before it were at. */
  begin(): void {
    this.#processes++;
  }

  async await<T>(ending: Promise<T>): Promise<T> {
    await this.#turnUntil(ending, Infinity);
    return ending;
  }

  /** Until nothing is under way, or for so long that something always will be. */
  async settled(service: { settled(): Promise<void> }): Promise<void> {
    const settled = service.settled();
    if (await this.#turnUntil(settled, MAX_TURNS)) await settled;
  }

  /** Answers whether it has ended. */
  async #turnUntil(ending: Promise<unknown>, most: number): Promise<boolean> {
    const process = this.#processes;
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    ending.then(end, end);
    for (let turn = 1; !isOver && turn <= most && process === this.#processes; turn++) {
      if (turn % PATIENCE === 0) this.#clock.advance(PAUSE_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return isOver;
  }
}
