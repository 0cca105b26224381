/** A reading of one state, with what every rule asks of it. */
import { afterEdge, edgeOf, type OrderEdge, type OrderEventName } from "./edges.ts";
import type { Happening, OrderRule, Scenario } from "./scenario.ts";
import { ALL, type Move, type Moves, type OrderState, type Shown, service, shownOf, WORTH } from "./state.ts";

/** What the service sees, and what its chart makes of it. */
export class Reading {
  readonly state: OrderState;
  readonly edges: readonly OrderEdge[];
  readonly shown: Shown;
  readonly #scenario: Scenario;

  constructor(state: OrderState, scenario: Scenario, edges: readonly OrderEdge[]) {
    this.state = state;
    this.#scenario = scenario;
    this.edges = edges;
    this.shown = shownOf(state);
  }

  /** An event of the chart with what is committed beside it; nothing where the table has no row. */
  *told(event: OrderEventName, to: Partial<OrderState> = {}, by: Move["by"] = "service"): Moves {
    const edge = edgeOf(this.edges, this.state, event);
    if (edge === undefined) return;
    const position = afterEdge(edge, this.state);
    const isRefusing = position.place === "refusing" || position.place === "over.refusing";
    const isNobodyWanted = this.state.isNobodyWanted || isRefusing;
    yield { act: event, by, to: { ...position, isNobodyWanted, ...to } };
  }

  /** The same, where an event without a row would leave a hole. */
  *mustBeTold(event: OrderEventName, to: Partial<OrderState>): Moves {
    const edge = edgeOf(this.edges, this.state, event);
    if (edge !== undefined) yield* this.told(event, to);
    else yield service(event, { broken: `${event} has a row in ${this.state.place}` });
  }

  happens(what: Happening): boolean {
    return this.#scenario.happens?.includes(what) === true;
  }

  without(rule: OrderRule): boolean {
    return this.#scenario.without === rule;
  }

  isRefundable(): boolean {
    const { isPriceKnown } = this.state;
    const { money } = this.shown;
    return isPriceKnown && (money === WORTH || (money === ALL && this.#scenario.isSmall !== true));
  }

  isBelowCost(): boolean {
    return this.shown.money < 2 || (this.state.isPriceKnown && !this.isRefundable());
  }

  areServed(): boolean {
    return this.state.payers === "clean" || this.state.isReleased;
  }

  isStopped(): boolean {
    return this.state.isHeld && this.without("no hold stops a no-go or a later chunk");
  }

  isNobodyMadeAgain(): boolean {
    return (
      this.state.isNobodyWanted && !this.without("what is made again pays nobody where nobody was wanted")
    );
  }

  /** A no-go, which no hold stops. */
  *signNoGo(): Moves {
    if (!this.isRefundable() || this.state.isNoGoSigned || this.isStopped()) return;
    yield service("signs the no-go", { isNoGoSigned: true });
  }
}
