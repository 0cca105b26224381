/** Which states cannot come to an end by steps of the service alone. */
import { Numbers } from "./numbers.ts";

/** No step, or no state. */
const NONE = -1;

/** States and the service's steps between them, by the numbers of the states. */
export class Ends {
  /** By state: the last step that leads to it. */
  readonly #lastInto = new Numbers();
  /** By step: where it comes from, and the step before it that leads to the same state. */
  readonly #from = new Numbers();
  readonly #before = new Numbers();
  readonly #ends = new Numbers();

  /** Adds the next state; states are numbered from 0 on. */
  add(isEnd: boolean): void {
    if (isEnd) this.#ends.push(this.#lastInto.length);
    this.#lastInto.push(NONE);
  }

  step(from: number, to: number): void {
    this.#before.push(this.#lastInto.at(to));
    this.#lastInto.set(to, this.#from.length);
    this.#from.push(from);
  }

  /** The first state from which no steps lead to an end, found by going back from all ends; or null. */
  firstWithout(): number | null {
    const canEnd = new Uint8Array(this.#lastInto.length);
    const reached = new Numbers();
    const reach = (state: number): void => {
      if (canEnd[state] === 1) return;
      canEnd[state] = 1;
      reached.push(state);
    };
    for (let end = 0; end < this.#ends.length; end += 1) reach(this.#ends.at(end));
    for (let next = 0; next < reached.length; next += 1) {
      let step = this.#lastInto.at(reached.at(next));
      for (; step !== NONE; step = this.#before.at(step)) reach(this.#from.at(step));
    }
    const stuck = canEnd.indexOf(0);
    return stuck === NONE ? null : stuck;
  }
}
