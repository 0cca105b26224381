/**
 * What one endpoint shows is of one block: its marker and its balance count together. An order of one chunk, 8 to its payee,
 * whose transaction may land between two answers; 3 more come late. Of three endpoints one is up to date, one is behind, and
 * one lies; what two of them say counts.
 */
import type { Step, System } from "../explore.ts";

/** The rule that can be taken out: without it the marker that two say alike is put beside the balances that two say. */
export type OneBlockRule = "K15: each endpoint's marker counts with its own balance";

const AMOUNT = 8;
const LATE = 3;
const LIES = [0, AMOUNT, 13];

/** What one endpoint shows. */
interface Shown {
  readonly balance: number;
  readonly isPaid: boolean;
  readonly slot: number;
}

interface State {
  readonly now: Shown;
  /** What the endpoint that is behind still shows. */
  readonly behind: Shown;
  readonly deposited: number;
  readonly received: number;
  /** The highest slot of the answers that the rows were written by. */
  readonly evaluatedAt: number;
  readonly isShort: boolean;
  readonly missing: number;
}

const START: Shown = { balance: AMOUNT, isPaid: false, slot: 0 };

/** One search. */
export class OneBlockModel implements System<State> {
  readonly start: State = {
    now: START,
    behind: START,
    deposited: AMOUNT,
    received: AMOUNT,
    evaluatedAt: 0,
    isShort: false,
    missing: 0,
  };
  readonly key = JSON.stringify;
  readonly #without: OneBlockRule | undefined;

  constructor(without?: OneBlockRule) {
    this.#without = without;
  }

  readonly broken = ({ missing, received, deposited }: State): string | null => {
    if (missing > 0) return "nothing is told missing in an honest life";
    return received > deposited ? "no more is told received than came" : null;
  };

  readonly isEnd = ({ now, received, deposited, missing }: State): boolean =>
    now.isPaid && received === deposited && missing === 0;

  *steps(state: State): Generator<Step<State>> {
    const { now, behind, deposited } = state;
    if (deposited === AMOUNT) {
      const later = { ...now, balance: now.balance + LATE, slot: now.slot + 1 };
      yield {
        act: `${LATE} come late`,
        state: { ...state, now: later, deposited: AMOUNT + LATE },
        by: "world",
      };
    }
    if (!now.isPaid) {
      const paid = { balance: now.balance - AMOUNT, isPaid: true, slot: now.slot + 1 };
      yield { act: "the chunk lands", state: { ...state, now: paid }, by: "service" };
    }
    if (behind.slot < now.slot) {
      yield { act: "the endpoint behind follows", state: { ...state, behind: now }, by: "service" };
    }
    for (const balance of LIES) {
      for (const isPaid of [true, false]) {
        const act = `reads, the liar says ${balance} and ${isPaid ? "a" : "no"} marker`;
        const answers = [now, behind, { balance, isPaid, slot: now.slot }];
        const next = this.#evaluated(state, answers);
        if (next !== null) yield { act, state: next, by: "service" };
      }
    }
  }

  #evaluated(state: State, answers: readonly Shown[]): State | null {
    const counting = answers.filter(({ slot }) => slot >= state.evaluatedAt);
    if (counting.length < 2) return null;
    const present = this.#present(counting).toSorted((a, b) => a - b);
    const [, most = 0] = present;
    const least = present.at(-2) ?? 0;
    const evaluatedAt = Math.max(...counting.map(({ slot }) => slot));
    const { received, isShort, missing } = state;
    if (least > received) return { ...state, received: least, evaluatedAt, isShort: false };
    if (most < received && !isShort) return { ...state, evaluatedAt, isShort: true };
    if (most < received) return { ...state, evaluatedAt, missing: received - most };
    return isShort || missing > 0 ? { ...state, evaluatedAt, isShort: false, missing: 0 } : null;
  }

  /** What is there and was paid, as each endpoint has it. */
  #present(answers: readonly Shown[]): number[] {
    if (this.#without === undefined) {
      return answers.map(({ balance, isPaid }) => balance + (isPaid ? AMOUNT : 0));
    }
    const standing = answers.filter(({ isPaid }) => isPaid).length;
    const isDisputed = standing < 2 && answers.length - standing < 2;
    return isDisputed ? [] : answers.map(({ balance }) => balance + (standing >= 2 ? AMOUNT : 0));
  }
}
