/**
 * An order of two chunks by the rows of its chart, in worlds in which other copies of any age land what they like, witnesses
 * lie, persons hold, decline and foreclose, and the database is set back.
 */
import type { Step, System } from "../explore.ts";
import { ORDER, type OrderEdge } from "./edges.ts";
import { services } from "./program.ts";
import { brokenBy } from "./promises.ts";
import { Reading } from "./reading.ts";
import type { Scenario } from "./scenario.ts";
import { type Move, type OrderState, START, stateKey, WORTH } from "./state.ts";
import { happenings } from "./world.ts";

/** One scenario, to be searched. */
export class OrderModel implements System<OrderState> {
  readonly start = START;
  readonly key = stateKey;
  readonly #scenario: Scenario;
  readonly #edges: readonly OrderEdge[];

  constructor(scenario: Scenario, edges = ORDER) {
    this.#scenario = scenario;
    this.#edges = edges;
  }

  readonly broken = ({ broken }: OrderState): string | null => broken;

  *steps(state: OrderState): Generator<Step<OrderState>> {
    for (const move of happenings(state, this.#scenario)) yield this.#step(state, move);
    const reading = new Reading(state, this.#scenario, this.#edges);
    for (const move of services(reading)) yield this.#step(state, move);
  }

  #step(before: OrderState, { act, by, to }: Move): Step<OrderState> {
    const after = { ...before, ...to };
    const broken = after.broken ?? brokenBy(before, after, this.#scenario);
    return { act, by, state: { ...after, broken } };
  }

  /** All is told and given back, or waits: for money, for the window, for a person by a hold or a matter, for a price. */
  readonly isEnd = (state: OrderState): boolean => {
    const { place, isWindowOver, isPriceKnown } = state;
    if (place === "waiting") return !isWindowOver;
    if (!isPriceKnown && (place === "refusing" || place === "over.refusing")) return true;
    return areRowsTrue(state) && this.#isWordTrue(state) && this.#isAtRest(state);
  };

  #isWordTrue({ status, marker0, marker1, isDeclined, hasLied }: OrderState): boolean {
    const isPaid = marker0 === "go" && marker1 === "all";
    return status !== "completed" || isPaid || isDeclined || (this.#scenario.copies === "any" && hasLied);
  }

  #isAtRest({ place, money, marker0, marker1, isHeld, isPriceKnown }: OrderState): boolean {
    if (place === "over.resting") return isHeld || !isPriceKnown;
    const isKept = this.#scenario.isSmall === true && marker0 === "none";
    const isUndecided = marker0 === "go" && marker1 === "none";
    return place === "over.idle" && (money < WORTH || !isPriceKnown || isKept) && !isUndecided;
  }
}

function areRowsTrue({ lie, row0, row1, marker0, marker1, isDeclined }: OrderState): boolean {
  const is0True = row0 === marker0 || (row0 === "none" && isDeclined);
  return lie === "none" && is0True && (row1 === marker1 || marker0 !== "go");
}
