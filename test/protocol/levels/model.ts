/**
 * K15: levels, booking, `missing`. The chain has its truth. The service reads, books, evaluates and signs in steps of its
 * own; it may die between any two, and hold a reading for as long as it likes; two processes share one database.
 */
import type { Step, System } from "../explore.ts";
import { judged, readings } from "./readings.ts";
import type { LevelsRule, Scenario } from "./scenario.ts";
import { EMPTY, keyOf, type Reading, type State } from "./state.ts";

type Steps = Generator<Step<State>>;

/** One scenario, to be searched. */
export class LevelsModel implements System<State> {
  readonly start = EMPTY;
  readonly key = keyOf;
  readonly #scenario: Scenario;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  readonly broken = ({ stolen, missing, received, deposited, booked, toSender }: State): string | null => {
    if (stolen === 0 && missing > 0) return "nothing is told missing in an honest life";
    if (received > deposited) return "no more is told received than came";
    if (booked > toSender) return "no more is booked than went to the sender";
    return null;
  };

  /** Nothing is there, and the sums close; or what was stolen is told. */
  readonly isEnd = (state: State): boolean => {
    const { rest, balance, stolen, missing, deposited, received, booked, toSender } = state;
    if (rest !== null || balance > 0) return false;
    if (stolen > 0) return missing === deposited - booked && missing > 0;
    return missing === 0 && received === booked && booked === toSender;
  };

  *steps(state: State): Steps {
    yield* this.#chain(state);
    for (const [process, reading] of state.readings.entries()) {
      const called = process === 0 ? "" : "the other process ";
      const steps = reading === null ? this.#reads(state, process) : this.#uses(state, reading);
      for (const { act, state: next, by } of steps) {
        yield { act: `${called}${act}`, state: reading === null ? next : forgets(next, process), by };
      }
    }
  }

  #has(rule: LevelsRule): boolean {
    return this.#scenario.without !== rule;
  }

  *#chain(state: State): Steps {
    const { slot, balance, deposits, deposited, toSender, rest, behind } = state;
    const amount = this.#scenario.deposits[deposits];
    if (amount !== undefined) {
      const more = { balance: balance + amount, deposited: deposited + amount, deposits: deposits + 1 };
      yield { act: `${amount} comes`, state: { ...state, ...more, slot: slot + 1 }, by: "world" };
    }
    if (this.#scenario.thief === "steals" && state.stolen === 0 && balance > 0) {
      const taken = { stolen: balance, balance: 0, slot: slot + 1 };
      yield { act: `the thief takes ${balance}`, state: { ...state, ...taken }, by: "world" };
    }
    if (rest?.isAlive === true) {
      const { sum } = rest;
      if (this.#scenario.rests === "bare" ? balance >= sum : balance === sum) {
        const landed = { ...rest, isAlive: false, landedAt: slot + 1 };
        const paid = { balance: balance - sum, toSender: toSender + sum, slot: slot + 1 };
        yield { act: `the rest of ${sum} lands`, state: { ...state, ...paid, rest: landed }, by: "service" };
      }
      yield { act: "its bytes die", state: { ...state, rest: { ...rest, isAlive: false } }, by: "service" };
    }
    if (behind.slot < slot) {
      const { endpoints } = this.#scenario;
      const mayStay = endpoints?.kind === "two honest" && endpoints.second === "behind for ever";
      const caughtUp = { ...state, behind: { balance, slot } };
      yield { act: "the witness behind follows", state: caughtUp, by: mayStay ? "world" : "service" };
    }
  }

  *#reads(state: State, process: number): Steps {
    for (const { act, reading } of readings(this.#scenario, state, process)) {
      const held = state.readings.map((other, at) => (at === process ? reading : other));
      yield { act, state: { ...state, readings: held }, by: "service" };
    }
  }

  /** What a process does with its reading; each uses it up. */
  *#uses(state: State, reading: Reading): Steps {
    yield { act: "dies", state, by: "service" };
    if (state.rest !== null) {
      yield* this.#has("K15: a rest is booked by its own signature")
        ? booksBySignature(state, reading)
        : booksByBalance(state, reading);
      if (this.#has("K15: nothing is evaluated while a rest is out")) return;
    }
    const shown = judged(this.#scenario, state, reading);
    if (shown === null) yield { act: "lays the reading aside", state, by: "service" };
    else {
      yield* this.#evaluates(state, shown);
      yield* this.#signs(state, shown);
    }
  }

  /** Compares what is held and was sent with the level. */
  *#evaluates(state: State, reading: Reading): Steps {
    const { booked, received, isShort, missing } = state;
    const least = reading.least + booked;
    const most = reading.most + booked;
    const deposit = this.#has("K15: a deposit is what the witnesses say at least") ? least : most;
    const present = this.#has("K15: a shortage is what the witnesses say at most") ? most : least;
    const at = { bookedAt: reading.slot };
    if (deposit > received) {
      const listed = this.#lists() ? state.deposited : 0;
      // What is listed is newer than the reading.
      const since = listed > deposit ? state.slot : reading.slot;
      const level = { received: Math.max(deposit, listed), bookedAt: since, isShort: false, isIdle: false };
      yield { act: `the level is ${deposit}`, state: { ...state, ...level }, by: "service" };
    } else if (present < received && !isShort) {
      yield { act: "it is short, once", state: { ...state, ...at, isShort: true }, by: "service" };
    } else if (present < received && missing !== received - present) {
      const told = { ...at, missing: received - present, isShort: true };
      yield { act: `tells ${told.missing} missing`, state: { ...state, ...told }, by: "service" };
    } else if (present >= received && least <= received && (isShort || missing > 0)) {
      yield { act: "the sums close", state: { ...state, ...at, isShort: false, missing: 0 }, by: "service" };
    } else if (!state.isIdle && reading.balance === 0) {
      yield this.#mustList(state)
        ? lists(state)
        : { act: "is idle", state: { ...state, isIdle: true }, by: "service" };
    }
    if (state.isIdle && this.#mustList(state)) yield lists({ ...state, isIdle: false });
  }

  /** Whether the address's history has deposits that the level lacks. */
  #mustList({ deposited, received }: State): boolean {
    return this.#lists() && deposited > received;
  }

  #lists(): boolean {
    return this.#scenario.history !== "none" && this.#has("K15: deposits' own signatures are listed");
  }

  *#signs(state: State, { balance }: Reading): Steps {
    const isKnown = this.#scenario.history !== "none" || state.received > state.booked;
    if (state.rest !== null || balance === 0 || !isKnown) return;
    for (const sum of new Set([balance, ...(this.#scenario.hints ?? [])])) {
      const rest = { sum, isAlive: true, landedAt: null };
      const signed = { ...state, rest, turn: state.turn + 1, isIdle: false };
      yield { act: `signs a rest of ${sum}`, state: signed, by: "service" };
    }
  }
}

function* booksBySignature(state: State, reading: Reading): Steps {
  if (reading.turn !== state.turn || reading.rest === "open") return;
  const after = { ...withoutRest(state), bookedAt: Math.max(state.bookedAt, reading.slot) };
  yield reading.rest === "landed"
    ? {
        act: "books the rest",
        state: { ...after, booked: state.booked + (state.rest?.sum ?? 0) },
        by: "service",
      }
    : { act: "plans anew, since all attempts are dead", state: after, by: "service" };
}

/** Takes an empty address for a rest that has landed. */
function* booksByBalance(state: State, { balance }: Reading): Steps {
  const { rest } = state;
  if (rest === null || rest.isAlive) return;
  const after = withoutRest(state);
  yield balance === 0
    ? {
        act: "books the rest by the balance",
        state: { ...after, booked: state.booked + rest.sum },
        by: "service",
      }
    : { act: "plans anew, since something is left", state: after, by: "service" };
}

function withoutRest(state: State): State {
  return { ...state, rest: null, turn: state.turn + 1 };
}

function lists(state: State): Step<State> {
  const listed = { ...state, received: state.deposited, bookedAt: state.slot };
  return { act: "lists the history", state: listed, by: "service" };
}

function forgets(state: State, process: number): State {
  return { ...state, readings: state.readings.map((reading, at) => (at === process ? null : reading)) };
}
