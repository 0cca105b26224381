/**
 * The copies of a database themselves: rows that survive a crash, readings that do not, a backup that may take the place of
 * a row at any time, a second live copy made of it, bytes that land late or never, deposits that come late, a person who
 * declines, a caller who cancels.
 */
import type { Step, System } from "../explore.ts";
import { keyOf } from "./key.ts";
import { programMoves } from "./program.ts";
import type { Scenario } from "./scenario.ts";
import { empty, NO_GO, type State } from "./state.ts";
import { worldMoves } from "./world.ts";

/** One scenario, to be searched. */
export class CopiesModel implements System<State> {
  readonly start: State;
  readonly key = keyOf;
  readonly #scenario: Scenario;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.start = empty(scenario.copies);
  }

  *steps(state: State): Generator<Step<State>> {
    for (const [act, change] of worldMoves(this.#scenario, state)) {
      yield { act, state: { ...state, ...change }, by: "world" };
    }
    for (const [place, copy] of state.copies.entries()) {
      if (copy === null) continue;
      const called = this.#scenario.copies === 1 ? "" : `copy ${place} `;
      for (const [act, change] of programMoves({ scenario: this.#scenario, state, place, copy })) {
        yield { act: `${called}${act}`, state: { ...state, ...change }, by: "service" };
      }
    }
  }

  /** A backup without a journal may forget what was told while nothing stood on the chain. */
  #tellsForEver(): boolean {
    return this.#scenario.about === "told" || !this.#scenario.restores;
  }

  readonly broken = (state: State): string | null => {
    const { paid, fees, toldPaid, toldUnpaid, balance, toSender, deposits } = state;
    const came = this.#scenario.deposits.slice(0, deposits).reduce((sum, amount) => sum + amount, 0);
    const sum = paid.reduce((all, times) => all + times, 0);
    const paidOnce = paid.reduce((bits, times, member) => (times > 0 ? bits | (1 << member) : bits), 0);
    if (paid.some((times) => times > 1)) return "everybody is paid once";
    if ((toldUnpaid & paidOnce) !== 0) return "who was told unpaid is not paid";
    if ((toldPaid & ~paidOnce) !== 0) return "who was told paid is paid";
    if (fees > 1) return "the fee is taken once";
    if (came !== balance + sum + fees + toSender) return "all that came is there or went somewhere";
    if (state.markers[0] === NO_GO && sum > 0) return "an order that is refused pays nobody";
    if (this.#tellsForEver() && isReversed(state)) return "who was told failed or cancelled is not paid";
    return state.wrong;
  };
}

/** Whether the order was told failed or cancelled with nothing on the chain, and somebody was paid. */
function isReversed({ toldEnd, paid, toldPaid }: State): boolean {
  return toldEnd !== null && (toldPaid !== 0 || paid.some((times) => times > 0));
}
