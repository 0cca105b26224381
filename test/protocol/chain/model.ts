/**
 * What the chain admits. Copies of the database need no states of their own here: what the rules ever let anybody sign may
 * land now, later or never, sent by any number of copies of any age, since only finalized markers permit, and those stay.
 * One landed transaction at a time may be on a fork. Money may come at any moment, and a thief may have the address's key.
 */
import type { Step, System } from "../explore.ts";
import { meaningOf } from "../outcome.ts";
import { firstFree, landings } from "./landings.ts";
import { Order } from "./order.ts";
import { brokenPromise } from "./promises.ts";
import type { Slot } from "./payouts.ts";
import type { Scenario } from "./scenario.ts";
import { type Chain, emptyWorld, NONE, withPlace, type World, worldKey } from "./state.ts";

/** One scenario, to be searched. */
export class ChainModel implements System<World> {
  readonly start: World;
  readonly key = worldKey;
  readonly #order: Order;
  /** Everybody, by bit. */
  readonly #everybody: number;

  constructor(scenario: Scenario) {
    this.#order = new Order(scenario);
    const { slots, recipients } = this.#order;
    this.start = emptyWorld(slots.length, recipients.length);
    this.#everybody = 2 ** recipients.length - 1;
  }

  readonly broken = (world: World): string | null => brokenPromise(this.#order, world);

  /** All is decided and told, and nothing lies at the address. */
  readonly isEnd = ({ now, final, toldPaid, toldUnpaid }: World): boolean =>
    now === final &&
    now.balance === 0 &&
    this.#order.isDecided(now) &&
    (toldPaid | toldUnpaid) === this.#everybody;

  *steps(world: World): Generator<Step<World>> {
    yield* this.#deposit(world);
    if (world.now === world.final) {
      yield* this.#steal(world);
      yield* this.#forge(world);
      yield* this.#approve(world);
      for (const { act, chain } of landings(this.#order, world.now, world.isGivenUp)) {
        yield { act, state: { ...world, now: chain }, by: "service" };
      }
    } else {
      yield { act: "it is final", state: { ...world, final: world.now }, by: "service" };
      yield { act: "it vanishes on a fork", state: { ...world, now: world.final }, by: "world" };
    }
    yield* this.#tell(world);
    yield* this.#tellTooMuch(world);
  }

  *#deposit({ now, final, ...told }: World): Generator<Step<World>> {
    const amount = this.#order.deposits[final.deposits];
    if (amount === undefined) return;
    const comes = (chain: Chain): Chain => ({
      ...chain,
      deposits: chain.deposits + 1,
      balance: chain.balance + amount,
    });
    const after = comes(final);
    const state = { ...told, now: now === final ? after : comes(now), final: after };
    yield { act: `${amount} comes`, state, by: "world" };
  }

  #canSteal(chain: Chain): boolean {
    return chain.balance > 0 && (chain.stolen === 0 || this.#isThief("sweeps"));
  }

  #isThief(does: "forges" | "steals" | "sweeps"): boolean {
    return this.#order.scenario.thief?.includes(does) === true;
  }

  *#steal(world: World): Generator<Step<World>> {
    const { now } = world;
    if (!this.#canSteal(now) || !(this.#isThief("steals") || this.#isThief("sweeps"))) return;
    const chain = stolen(now);
    yield {
      act: `the thief takes ${now.balance}`,
      state: { ...world, now: chain, final: chain },
      by: "world",
    };
  }

  /** The thief makes one marker, of any length, and takes all in the same transaction or does not. */
  *#forge(world: World): Generator<Step<World>> {
    const { now } = world;
    if (!this.#isThief("forges") || now.forged !== NONE || now.deposits === 0) return;
    for (const slot of this.#order.slots) {
      if (this.#order.payoutOf(now, slot) !== null) continue;
      for (const length of slot.payouts.keys()) {
        const act = `the thief makes the marker of chunk ${slot.chunk} with length ${length}`;
        const markers = withPlace(now.markers, slot.place, length);
        const chain = { ...now, markers, forged: slot.place };
        if (this.#canSteal(now)) {
          yield { act: `${act} and takes all`, state: { ...world, now: stolen(chain) }, by: "world" };
        }
        yield { act, state: { ...world, now: chain }, by: "world" };
      }
    }
  }

  /** A person approves that all goes elsewhere, under the lowest number whose marker does not stand. */
  *#approve(world: World): Generator<Step<World>> {
    const { now } = world;
    const most = this.#order.scenario.redirects ?? 0;
    if (now.approvals.length >= most || now.balance === 0 || !this.#order.isDecided(now)) return;
    const approval = { redirect: firstFree(now), sum: now.balance };
    const approvals = [...now.approvals, approval].toSorted(
      (a, b) => a.redirect - b.redirect || a.sum - b.sum,
    );
    const chain = { ...now, approvals, approved: now.approved + approval.sum };
    const act = `a person approves ${approval.sum} elsewhere as r${approval.redirect}`;
    yield { act, state: { ...world, now: chain, final: chain }, by: "world" };
  }

  /** Every copy tells the same of the same markers: whom each paid, and whom it did not. */
  *#tell(world: World): Generator<Step<World>> {
    const chain = this.#order.has("K9: only what is final is told") ? world.final : world.now;
    let { toldPaid, toldUnpaid } = world;
    for (const slot of this.#order.slots) {
      const paid = this.#paidBy(chain, slot);
      if (paid === null) continue;
      for (const member of slot.members) {
        if (paid.includes(member)) toldPaid |= 1 << member;
        else toldUnpaid |= 1 << member;
      }
    }
    if (this.#order.cuts.some((cut) => this.#order.isRefused(chain, cut))) toldUnpaid = this.#everybody;
    if (toldPaid === world.toldPaid && toldUnpaid === world.toldUnpaid) return;
    yield { act: "it is told", state: { ...world, toldPaid, toldUnpaid }, by: "service" };
  }

  /** Whom a slot's marker is read to have paid, or null if none stands. */
  #paidBy(chain: Chain, slot: Slot): readonly number[] | null {
    const payout = this.#order.payoutOf(chain, slot);
    if (payout === null) return null;
    if (!this.#order.has("K4: the length tells whom it paid")) return payout.isGo ? slot.members : [];
    const isForged = slot.place === chain.forged;
    if (isForged && this.#order.has("K4: a foreign marker is told by its own transactions")) return [];
    if (this.#order.has("K4: every reader counts the members alike") || slot.chunk > 0) {
      return payout.recipients;
    }
    return readWithFeeLast(slot, payout.length) ?? payout.recipients;
  }

  /** What a program tells that does without a rule. */
  *#tellTooMuch(world: World): Generator<Step<World>> {
    const { final } = world;
    const [cut = []] = this.#order.cuts;
    if (!this.#order.has("K7: rests wait until all is decided")) {
      const isOver = final.toSender > 0 && final.balance === 0 && final.markers[0] === NONE;
      const toldUnpaid = this.#everybody & ~world.toldPaid;
      if (isOver) yield { act: "all are told unpaid", state: { ...world, toldUnpaid }, by: "service" };
    }
    if (
      !this.#order.has("K8: what is given up gets its marker") &&
      this.#order.goes(final, cut) &&
      !world.isGivenUp
    ) {
      const open = cut.filter((slot) => this.#order.payoutOf(final, slot) === null);
      const toldUnpaid = open
        .flatMap(({ members }) => members)
        .reduce((bits, member) => bits | (1 << member), world.toldUnpaid);
      yield {
        act: "a person gives up what is not decided, and it is told unpaid",
        state: { ...world, toldUnpaid, isGivenUp: true },
        by: "service",
      };
    }
  }
}

function stolen(chain: Chain): Chain {
  return { ...chain, stolen: chain.stolen + chain.balance, balance: 0 };
}

/** What a reader understands who takes the fee for the last member of chunk 0; null if it has no set. */
function readWithFeeLast({ members }: Slot, length: number): readonly number[] | null {
  const meaning = meaningOf(length, { members: members.length + 1, chunk: 0, chunks: 2 });
  if (meaning?.kind !== "paid" || meaning.leftOut.length === 0) return null;
  return members.filter((_member, place) => !meaning.leftOut.includes(place));
}
