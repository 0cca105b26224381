/** The marker protocol as a system that can be searched: an order, its copies, forks, readers that lie, and closing. */
import {
  type Chain,
  chainKey,
  deposit,
  emptyChain,
  isMade,
  land,
  type Message,
  type Step as ChainStep,
} from "./chain.ts";
import type { Step, System } from "./explore.ts";
import { readFate } from "./fate.ts";
import {
  type Book,
  type Copy,
  excessMarker,
  excessRefund,
  type Home,
  type Order,
  STRANGER,
  writeBook,
} from "./messages.ts";
import { type Books, brokenPromise, type Judge, type Promised } from "./promises.ts";
import type { Rules } from "./rules.ts";

/** What a search lets happen. */
export interface Scenario {
  readonly order: Order;
  readonly rules: Rules;
  readonly copies: readonly Copy[];
  /** What the sender deposits, in this order. */
  readonly deposits: readonly number[];
  /** Refunds of excess that may be signed. 0 for none. */
  readonly excess: number;
  /**
   * What excess and closing are judged by. Payments, plans and refunds of words do not depend on what a reader says: the
   * model lets all of them be signed at any time, as if every node lied about everything.
   */
  readonly reader: "honest" | "lies";
  /** True when blocks that are not finalized may be lost. Otherwise each is finalized at once. */
  readonly forks: boolean;
  /** True when markers may be closed after the order is over. */
  readonly closes: boolean;
  /** True when an older copy of the database may take the place of the present one. */
  readonly restores: boolean;
}

/** What exists at one moment. */
export interface World {
  readonly tip: Chain;
  readonly finalized: Chain;
  /** An earlier finalized chain, which a node that lags still shows. */
  readonly past: Chain;
  /** Refunds of excess that were signed, by name. Their bytes can land from now on. */
  readonly signed: Readonly<Record<string, Message>>;
  /** True when the service has stopped to sign for this address and no bytes from before can land any more. */
  readonly isRetired: boolean;
  /** True when a copy of the database from before everything is in use. */
  readonly isRestored: boolean;
}

/** One thing that happens. */
export type Act =
  | { readonly does: "deposit"; readonly amount: number }
  | { readonly does: "sign"; readonly message: Message }
  | { readonly does: "land"; readonly message: Message }
  | { readonly does: "touch"; readonly marker: string }
  | { readonly does: "finalize" | "fork" | "retire" | "restore" };

/** The act in one line. */
export function describeAct(act: Act): string {
  switch (act.does) {
    case "deposit":
      return `deposit ${String(act.amount)}`;
    case "sign":
      return `sign: ${act.message.name}`;
    case "land":
      return act.message.name;
    case "touch":
      return `a stranger changes ${act.marker}`;
    default:
      return act.does;
  }
}

/** The system of one scenario, searched for states that break one of the promises. */
export function protocol(scenario: Scenario, promises: readonly Promised[]): System<World, Act> {
  const model = new Model(scenario);
  const chain = emptyChain(scenario.order.amounts.length);
  return {
    start: { tip: chain, finalized: chain, past: chain, signed: {}, isRetired: false, isRestored: false },
    next: (world) => model.next(world),
    key: worldKey,
    broken: (world) => brokenPromise(world.tip, model, promises),
  };
}

function worldKey({ tip, finalized, past, signed, isRetired, isRestored }: World): string {
  const chains = [tip, finalized, past].map(chainKey);
  return JSON.stringify([chains, Object.keys(signed).toSorted(), isRetired, isRestored]);
}

const HOMES: readonly Home[] = ["the sender", "another address"];

class Model implements Judge {
  readonly order: Order;
  readonly books: Books;
  private readonly scenario: Scenario;
  private readonly messages: readonly Message[];

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.order = scenario.order;
    const { order, rules, copies } = scenario;
    const [first, ...others] = copies.map((copy) => writeBook(order, rules, this.lawful(copy)));
    if (first === undefined) throw new Error("A scenario needs a copy of the database.");
    this.books = { each: [first, ...others], all: others.reduce(joined, first) };
    const again = rules.onlyTheSameWordsAgain ? [] : this.books.all.reworded.map(({ message }) => message);
    this.messages = [...this.books.all.messages, ...again];
  }

  *next(world: World): Generator<Step<World, Act>> {
    yield* this.deposits(world);
    for (const message of this.landable(world)) yield* this.landing(world, message);
    yield* this.strangers(world);
    if (this.scenario.excess > 0) yield* this.excess(world);
    if (this.scenario.forks) yield* this.finality(world);
    if (this.scenario.closes) yield* this.closing(world);
    if (this.scenario.restores && !world.isRestored) {
      yield { act: { does: "restore" }, state: { ...world, isRestored: true, isRetired: false } };
    }
  }

  /** The copy as the rules let it be: where plans follow from the order alone, every copy plans alike. */
  private lawful(copy: Copy): Copy {
    const { rules, copies } = this.scenario;
    const { chunks, onFailure } = copies[0] ?? copy;
    return {
      ...copy,
      chunks: rules.chunksFollowFromTheOrder ? chunks : copy.chunks,
      onFailure: rules.failuresAreIsolated ? onFailure : copy.onFailure,
    };
  }

  owed(chain: Chain): number {
    const { amounts } = this.scenario.order;
    const { open } = readFate(chain, this.books.all);
    return open.reduce((sum, payee) => sum + (amounts[payee] ?? 0), this.feeOf(chain));
  }

  isStuck(chain: Chain): boolean {
    if (readFate(chain, this.books.all).open.length === 0) return false;
    const rich = { ...chain, balance: Number.MAX_SAFE_INTEGER };
    return this.messages.every((message) => land(rich, message) === null);
  }

  private *deposits(world: World): Generator<Step<World, Act>> {
    let sum = 0;
    for (const amount of this.scenario.deposits) {
      if (sum === world.tip.deposited) {
        yield { act: { does: "deposit", amount }, state: this.at(world, deposit(world.tip, amount)) };
      }
      sum += amount;
    }
  }

  /** The payments, plans and refunds of words that some copy may sign, or has signed. */
  private landable({ tip, isRetired, isRestored, signed }: World): readonly Message[] {
    if (isRetired) return [];
    if (isRestored && this.scenario.rules.historyBeforeSigning && tip.closed.length > 0) return [];
    const reworded = this.books.all.reworded
      .filter(({ insteadOf }) => tip.markers[insteadOf.marker] === STRANGER)
      .map(({ message }) => message);
    return [...this.messages, ...reworded, ...Object.values(signed)];
  }

  private *landing(world: World, message: Message): Generator<Step<World, Act>> {
    const tip = land(world.tip, message);
    if (tip !== null) yield { act: { does: "land", message }, state: this.at(world, tip) };
  }

  /** A stranger changes what a marker says. */
  private *strangers(world: World): Generator<Step<World, Act>> {
    if (this.scenario.rules.markersAreOurs) return;
    for (const marker of Object.keys(world.tip.markers)) {
      const markers = { ...world.tip.markers, [marker]: STRANGER };
      yield { act: { does: "touch", marker }, state: this.at(world, { ...world.tip, markers }) };
    }
  }

  private *excess(world: World): Generator<Step<World, Act>> {
    const ordinals = Array.from({ length: this.scenario.excess }, (_, ordinal) => ordinal);
    for (const ordinal of ordinals) {
      if (this.scenario.reader === "honest") {
        for (const message of HOMES.map((home) => this.honestExcess(world, ordinal, home))) {
          if (message === null || Object.hasOwn(world.signed, message.name)) continue;
          const signed = { ...world.signed, [message.name]: message };
          yield { act: { does: "sign", message }, state: { ...world, signed } };
        }
      } else if (!world.isRetired) {
        for (let amount = 1; amount <= world.tip.balance; amount += 1) {
          yield* this.landing(
            world,
            excessRefund(this.scenario.rules, { ordinal, amount, home: "the sender" }),
          );
        }
      }
    }
  }

  /** The refund of excess that this ordinal may be signed for, judged by honest readings. */
  private honestExcess(world: World, ordinal: number, home: Home): Message | null {
    const { rules } = this.scenario;
    const reading = rules.excessFromFinalized ? world.finalized : world.tip;
    const money = rules.excessFromOneReading ? reading : world.past;
    if (world.isRetired || world.isRestored || !this.isOver(reading)) return null;
    const amount = money.balance - this.feeOf(reading);
    const isSigned = (earlier: number): boolean =>
      isMade(reading, excessMarker(rules, { ordinal: earlier, amount, home }));
    if (amount <= 0 || isSigned(ordinal)) return null;
    const earlier = Array.from({ length: ordinal }, (_, index) => index);
    const isNext = !rules.excessInTurn || earlier.every(isSigned);
    return isNext ? excessRefund(rules, { ordinal, amount, home }) : null;
  }

  /** What the service may still take of its fee. */
  private feeOf(chain: Chain): number {
    return this.fullFee(chain) - chain.fee;
  }

  /** The service keeps nothing of an order that was refunded whole. */
  private fullFee(chain: Chain): number {
    const { amounts, fee } = this.scenario.order;
    return readFate(chain, this.books.all).refunded.length === amounts.length ? 0 : fee;
  }

  private isOver(chain: Chain): boolean {
    const { roots } = this.books.all;
    return this.scenario.rules.excessAfterEveryLeaf
      ? readFate(chain, this.books.all).open.length === 0
      : roots.every(({ marker }) => isMade(chain, marker));
  }

  private readsOver(chain: Chain): boolean {
    return this.scenario.reader === "lies" || this.isOver(chain);
  }

  private *finality(world: World): Generator<Step<World, Act>> {
    const { tip, finalized } = world;
    if (chainKey(tip) === chainKey(finalized)) return;
    yield { act: { does: "finalize" }, state: { ...world, finalized: tip, past: finalized } };
    yield { act: { does: "fork" }, state: { ...world, tip: finalized } };
  }

  private *closing(world: World): Generator<Step<World, Act>> {
    const { finalized, isRetired, isRestored } = world;
    const { closingWaits } = this.scenario.rules;
    if (isRestored || (finalized.closed.length === 0 && !this.readsOver(finalized))) return;
    // Nothing that was signed can land once the finalized chain is high enough, so no fork lies open either.
    if (!isRetired) {
      const tip = world.tip;
      yield {
        act: { does: "retire" },
        state: { ...world, finalized: tip, past: tip, signed: {}, isRetired: true },
      };
    }
    if (isRetired || !closingWaits) {
      for (const message of this.closings(finalized)) yield* this.landing(world, message);
    }
  }

  /** The transactions of the final sweep that may be signed, judged by what stands. */
  private closings(chain: Chain): readonly Message[] {
    const { plansCloseFirst, feeWithTheRoot } = this.scenario.rules;
    const { plans, roots } = this.books.all;
    const markers = Object.keys(chain.markers);
    const standing = markers.filter((marker) => plans.has(marker));
    const isRoot = (marker: string): boolean => roots.some((words) => words.marker === marker);
    const inOrder =
      standing.length > 0 ? standing : markers.filter((marker) => markers.length === 1 || !isRoot(marker));
    const fee: ChainStep = { does: "take fee", amount: this.fullFee(chain) };
    const messages = (plansCloseFirst ? inOrder : markers).map((marker) => {
      const close: ChainStep = { does: "close", marker };
      const steps = isRoot(marker) && feeWithTheRoot && fee.amount > 0 ? [close, fee] : [close];
      return { name: `close ${marker}`, steps };
    });
    return feeWithTheRoot ? messages : [...messages, { name: "take the fee", steps: [fee] }];
  }

  /** The world with another tip. */
  private at(world: World, tip: Chain): World {
    return this.scenario.forks ? { ...world, tip } : { ...world, tip, finalized: tip, past: world.finalized };
  }
}

function joined(one: Book, other: Book): Book {
  return {
    roots: one.roots,
    plans: new Map([...one.plans, ...other.plans]),
    messages: [...one.messages, ...other.messages],
    reworded: [...one.reworded, ...other.reworded],
  };
}
