/**
 * K12: an act and rests of one mint. The money is of two payers: a's was there first. A person approves what lies there for
 * another receiver: he gets no more than that, and of b's no more than the person saw.
 */
import { packed, type Step, type System } from "../explore.ts";

/** The rules that can be taken out. */
export type ActRule =
  | "K12: none is approved while a rest is out"
  | "K12: none is approved while another is open"
  | "K12: no rest is signed while one is open";

/** The money at the address, what is open there, and what the receiver got. */
export interface Acts {
  readonly ofA: number;
  readonly ofB: number;
  readonly hasBPaid: boolean;
  /** The sums that are still open: of a rest, of the act, and of a second one. */
  readonly rest: number;
  readonly act: number;
  readonly second: number;
  /** What the person approved, and how much of it was b's. */
  readonly approved: number;
  readonly seenOfB: number;
  readonly received: number;
  readonly receivedOfB: number;
}

/** One search. */
export class ActsModel implements System<Acts> {
  readonly start: Acts = {
    ofA: 2,
    ofB: 0,
    hasBPaid: false,
    rest: 0,
    act: 0,
    second: 0,
    approved: 0,
    seenOfB: 0,
    received: 0,
    receivedOfB: 0,
  };
  readonly #without: ActRule | undefined;

  constructor(without?: ActRule) {
    this.#without = without;
  }

  readonly key = (acts: Acts): string => packed(Object.values(acts).map(Number));

  readonly broken = ({ approved, seenOfB, received, receivedOfB }: Acts): string | null =>
    received > approved || receivedOfB > seenOfB ? "nobody gets what came after the person looked" : null;

  readonly isEnd = ({ ofA, ofB, rest, act, second }: Acts): boolean => ofA + ofB + rest + act + second === 0;

  *steps(acts: Acts): Generator<Step<Acts>> {
    const { ofA, ofB, hasBPaid, rest, act, second, approved } = acts;
    const there = ofA + ofB;
    if (!hasBPaid) yield { act: "b pays 2", state: { ...acts, hasBPaid: true, ofB: 2 }, by: "world" };
    if (
      there > 0 &&
      approved === 0 &&
      (rest === 0 || this.#without === "K12: none is approved while a rest is out")
    ) {
      const state = { ...acts, act: there, approved: there, seenOfB: ofB };
      yield { act: `a person approves ${there} for another receiver`, state, by: "world" };
    }
    if (
      there > 0 &&
      act > 0 &&
      second === 0 &&
      this.#without === "K12: none is approved while another is open"
    ) {
      yield { act: "a person approves the same once more", state: { ...acts, second: there }, by: "world" };
    }
    const isFree =
      second === 0 && (act === 0 || this.#without === "K12: no rest is signed while one is open");
    if (there > 0 && rest === 0 && isFree) {
      yield { act: `a rest of ${there} is signed`, state: { ...acts, rest: there }, by: "service" };
    }
    yield* ends(acts);
  }
}

function* ends(acts: Acts): Generator<Step<Acts>> {
  const { rest, act } = acts;
  const there = acts.ofA + acts.ofB;
  if (rest > 0) {
    if (there >= rest) {
      yield { act: "the rest lands", state: { ...taken(acts, rest), rest: 0 }, by: "service" };
    }
    yield { act: "the rest dies", state: { ...acts, rest: 0 }, by: "service" };
  }
  for (const which of ["act", "second"] as const) {
    if (acts[which] === 0 || there === 0) continue;
    const sum = Math.min(acts[which], there);
    const after = taken(acts, sum);
    const received = acts.received + sum;
    const receivedOfB = acts.receivedOfB + acts.ofB - after.ofB;
    yield {
      act: `the ${which} lands`,
      state: { ...after, received, receivedOfB, [which]: 0 },
      by: "service",
    };
  }
  if (act > 0 && there === 0) {
    yield { act: "a day: the act ends", state: { ...acts, act: 0, second: 0 }, by: "service" };
  }
}

/** a's money goes first. */
function taken(acts: Acts, sum: number): Acts {
  const ofA = Math.min(sum, acts.ofA);
  return { ...acts, ofA: acts.ofA - ofA, ofB: acts.ofB - (sum - ofA) };
}
