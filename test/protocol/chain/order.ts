/** The order of a scenario: its markers' slots, and what the markers that stand say. */
import { type Chunks, type Payout, payoutsOf, type Slot } from "./payouts.ts";
import type { ChainRule, Scenario } from "./scenario.ts";
import { type Chain, NONE } from "./state.ts";

/** An order as the rules of its scenario let it be signed. */
export class Order {
  readonly scenario: Scenario;
  readonly recipients: readonly number[];
  /** What comes, in this order. */
  readonly deposits: readonly number[];
  /** The slots of each cut, chunk 0 first. There is one cut, unless two versions of the program cut differently. */
  readonly cuts: readonly (readonly Slot[])[];
  readonly slots: readonly Slot[];

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.recipients = scenario.chunks.flat();
    const needed = this.recipients.length + 1;
    this.deposits = scenario.deposits ?? [needed, needed, 1];
    const otherVersion = [this.recipients.slice(0, 1), this.recipients.slice(1)];
    const cuts = this.has("K3: the cut is stored") ? [scenario.chunks] : [scenario.chunks, otherVersion];
    let place = 0;
    this.cuts = cuts.map((chunks) =>
      chunks.map((members, chunk) => {
        const payouts = new Map(this.#payouts(chunks, chunk).map((payout) => [payout.length, payout]));
        return { place: place++, chunk, members, payouts };
      }),
    );
    this.slots = this.cuts.flat();
  }

  has(rule: ChainRule): boolean {
    return this.scenario.without !== rule;
  }

  /** What a slot's marker says, or null if none stands. */
  payoutOf(chain: Chain, slot: Slot): Payout | null {
    return slot.payouts.get(chain.markers[slot.place] ?? NONE) ?? null;
  }

  /** Whether chunk 0's marker lets the order go on. */
  goes(chain: Chain, [first]: readonly Slot[]): boolean {
    return first !== undefined && this.payoutOf(chain, first)?.isGo === true;
  }

  /** Whether chunk 0's marker refuses the order as a whole. */
  isRefused(chain: Chain, [first]: readonly Slot[]): boolean {
    return first !== undefined && this.payoutOf(chain, first)?.isGo === false;
  }

  /** Whether the order is refused, or every chunk has its marker. */
  isDecided(chain: Chain): boolean {
    return this.cuts.some(
      (cut) =>
        this.isRefused(chain, cut) ||
        (this.goes(chain, cut) && cut.every(({ place }) => chain.markers[place] !== NONE)),
    );
  }

  #payouts(chunks: Chunks, chunk: number): Payout[] {
    return payoutsOf(chunks, chunk, {
      feeAlone: !this.has("K5: in an order of one chunk the fee goes never alone"),
      fee: this.has("K5: the fee goes with chunk 0"),
      emptyGo: this.has("K4: no member, and go, has a length"),
      nobody: this.has("K11: nobody is an outcome"),
      leavingOut: this.has("K11: leaving out is an outcome"),
    });
  }
}
