/**
 * Searches all states of a small system, breadth first: for the shortest way to one that must not be, then for the nearest
 * one from which the system cannot come to an end by itself.
 */
import { Ends } from "./ends.ts";
import { Numbers } from "./numbers.ts";

/** A system to be searched. */
export interface System<State> {
  readonly start: State;
  /** Every step that somebody may take now, always in the same order. */
  readonly steps: (state: State) => Iterable<Step<State>>;
  /** Two states with the same key are the same; `packed` makes a short one. */
  readonly key: (state: State) => string;
  /** The promise that the state breaks, or null. */
  readonly broken: (state: State) => string | null;
  /** Whether all is over and well. A system without it may go on for ever. */
  readonly isEnd?: (state: State) => boolean;
}

/** One step and the state that it leads to. */
export interface Step<State> {
  readonly act: string;
  readonly state: State;
  /** `service`: our own program, which goes on by itself. `world`: everybody else, for whom no end may have to wait. */
  readonly by: "service" | "world";
}

/** What a search found. */
export interface Found {
  readonly states: number;
  /** The first broken promise and the shortest way there, or null. */
  readonly broken: Broken | null;
  /** Whether every state was looked at. */
  readonly isWhole: boolean;
}

/** A way to a state that breaks a promise. */
export interface Broken {
  readonly promise: string;
  readonly acts: readonly string[];
}

/** The promise that a state breaks from which no steps of the service lead to an end. */
export const CAN_END = "every state can come to an end";

/** Looks at every state; at no further one as soon as more than `most` are known. */
export function explore<State>(system: System<State>, most = Number.POSITIVE_INFINITY): Found {
  return new Search(system).run(most);
}

/** A short key of whole numbers from -128 to 65,407: one character each, and one byte for those below 128. */
export function packed(numbers: readonly number[]): string {
  const characters = numbers.map((number) => number + 128);
  for (const character of characters) {
    if (!(character >= 0 && character < 65_536)) {
      throw new RangeError(`${character - 128} does not fit into a key`);
    }
  }
  return String.fromCharCode(...characters);
}

/** A new state, and how it was met: from which state, by which of its steps. */
interface Met<State> {
  readonly state: State;
  readonly key: string;
  readonly from: number;
  readonly by: number;
}

/** States are numbered as they are met. When all steps of a state are known, only its key and its number are kept. */
class Search<State> {
  readonly #system: System<State>;
  readonly #numbers = new Map<string, number>();
  /** By number: the state that this one was met from first, and by which of that one's steps. */
  readonly #metFrom = new Numbers();
  readonly #metBy = new Numbers();
  readonly #ends: Ends | null;
  #broken: Broken | null = null;

  constructor(system: System<State>) {
    this.#system = system;
    this.#ends = system.isEnd === undefined ? null : new Ends();
  }

  run(most: number): Found {
    let layer = [this.#system.start];
    this.#add({ state: this.#system.start, key: this.#system.key(this.#system.start), from: -1, by: -1 });
    for (let first = 0; layer.length > 0;) {
      const further: State[] = [];
      for (const [place, state] of layer.entries()) {
        if (this.#broken !== null || this.#numbers.size > most) return this.#found(false);
        this.#follow(state, first + place, further);
      }
      first += layer.length;
      layer = further;
    }
    const stuck = this.#ends?.firstWithout() ?? null;
    if (stuck !== null) this.#broken = { promise: CAN_END, acts: this.#actsTo(stuck) };
    return this.#found(true);
  }

  #found(isWhole: boolean): Found {
    return { states: this.#numbers.size, broken: this.#broken, isWhole };
  }

  /** Takes every step of a state, until one breaks a promise. */
  #follow(state: State, number: number, further: State[]): void {
    let place = 0;
    for (const step of this.#system.steps(state)) {
      const key = this.#system.key(step.state);
      let next = this.#numbers.get(key);
      if (next === undefined) {
        next = this.#add({ state: step.state, key, from: number, by: place });
        further.push(step.state);
        if (this.#broken !== null) return;
      }
      if (step.by === "service") this.#ends?.step(number, next);
      place += 1;
    }
  }

  /** Gives a new state its number, and looks at it. */
  #add({ state, key, from, by }: Met<State>): number {
    const number = this.#numbers.size;
    this.#numbers.set(key, number);
    this.#metFrom.push(from);
    this.#metBy.push(by);
    this.#ends?.add(this.#system.isEnd?.(state) === true);
    const promise = this.#system.broken(state);
    if (promise !== null) this.#broken = { promise, acts: this.#actsTo(number) };
    return number;
  }

  /** Walks the first way to a state once more, for the names of its steps. */
  #actsTo(number: number): string[] {
    const places: number[] = [];
    for (let at = number; this.#metBy.at(at) !== -1; at = this.#metFrom.at(at)) {
      places.unshift(this.#metBy.at(at));
    }
    let { start: state } = this.#system;
    return places.map((place) => {
      const step = [...this.#system.steps(state)][place];
      if (step === undefined) throw new Error("a state's steps were others before");
      ({ state } = step);
      return step.act;
    });
  }
}
