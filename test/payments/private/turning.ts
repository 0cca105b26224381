/** Waits for what a process does on a virtual clock that nobody else turns. */
import type { VirtualClock } from "../../kit/virtual-clock.ts";

/** A promise that takes longer than so many turns of the event loop waits for the clock: a call that failed pauses. */
const PATIENCE = 40;
const PAUSE_MS = 250;

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
    const process = this.#processes;
    let isOver = false;
    const ended = ending.finally(() => (isOver = true));
    ended.catch(() => undefined);
    for (let turn = 1; !isOver && process === this.#processes; turn++) {
      if (turn % PATIENCE === 0) this.#clock.advance(PAUSE_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return ended;
  }
}
