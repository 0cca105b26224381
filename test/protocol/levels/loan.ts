/**
 * The loan of an order in SOL: 8 to its payee, and the go lends 2 to the address. Late money of 5 may come; a thief takes 1
 * lamport or all. A rest, which lands on the very balance that it names, gives 2 to the sponsor and the other lamports to the
 * sender. A rest of another copy of the database may give the 2 as well.
 */
import type { Step, System } from "../explore.ts";

/** The rules that can be taken out. */
export type LoanRule =
  | "K15: what is held may be below 0"
  | "K15: the loan is back by a transaction"
  | "K15: a transaction of another copy counts, too"
  | "K15: without history the loan is back when all is decided and nothing is there";

const AMOUNT = 8;
const LOAN = 2;
const LATE = 5;

interface State {
  readonly balance: number;
  readonly deposited: number;
  readonly hasPaid: boolean;
  readonly isLateHere: boolean;
  readonly stolen: number;
  /** What the sponsor has got back. */
  readonly toSponsor: number;
  readonly toSender: number;
  readonly received: number;
  readonly booked: number;
  readonly isLoanBack: boolean;
  readonly rest: Rest | null;
  readonly isShort: boolean;
  readonly missing: number;
}

interface Rest {
  readonly toSender: number;
  readonly toSponsor: number;
  readonly hasLanded: boolean;
}

const START: State = {
  balance: AMOUNT,
  deposited: AMOUNT,
  hasPaid: false,
  isLateHere: false,
  stolen: 0,
  toSponsor: 0,
  toSender: 0,
  received: AMOUNT,
  booked: 0,
  isLoanBack: false,
  rest: null,
  isShort: false,
  missing: 0,
};

/** What is taken out of a search: a rule, and the history of the address. */
export interface LoanScenario {
  readonly history?: "none";
  readonly without?: LoanRule;
}

/** One search. */
export class LoanModel implements System<State> {
  readonly start = START;
  readonly key = JSON.stringify;
  readonly #hasHistory: boolean;
  readonly #without: LoanRule | undefined;

  constructor({ history, without }: LoanScenario) {
    this.#hasHistory = history !== "none";
    this.#without = without;
  }

  readonly broken = (state: State): string | null => {
    const { stolen, missing, received, deposited, isLoanBack, toSponsor } = state;
    if (stolen === 0 && missing > 0) return "nothing is told missing in an honest life";
    if (missing > stolen) return "no more is told missing than was stolen";
    if (received > deposited) return "no more is told received than came";
    if (this.#hasHistory && isLoanBack && toSponsor === 0) {
      return "a loan that is told back is with the sponsor";
    }
    return null;
  };

  /** A theft is told, or nothing is there, the loan is back and the sums close; without history less is known. */
  readonly isEnd = (state: State): boolean => {
    if (state.rest !== null) return false;
    if (state.stolen > 0) return state.missing === state.stolen || !this.#hasHistory;
    const isOver = state.hasPaid && state.balance === 0 && state.isLoanBack && state.missing === 0;
    return isOver && (state.received === state.deposited || !this.#hasHistory);
  };

  *steps(state: State): Generator<Step<State>> {
    for (const [act, change] of worldMoves(state)) yield { act, state: { ...state, ...change }, by: "world" };
    for (const [act, change] of this.#moves(state)) {
      yield { act, state: { ...state, ...change }, by: "service" };
    }
  }

  #has(rule: LoanRule): boolean {
    return this.#without !== rule;
  }

  *#moves(state: State): Moves {
    const { balance, hasPaid, rest } = state;
    if (!hasPaid && balance >= AMOUNT) {
      yield ["the go pays 8 and lends 2", { balance: balance - AMOUNT + LOAN, hasPaid: true }];
    }
    if (rest !== null) {
      yield* this.#ofRest(state, rest);
      return;
    }
    const isLent = hasPaid && !state.isLoanBack;
    const isListed = isLent && state.toSponsor > 0 && this.#lists();
    const isZero = isLent && balance === 0 && this.#believesZero();
    if (isListed) yield ["lists a transaction that gives 2 to the sponsor", { isLoanBack: true }];
    if (isZero) yield ["takes the loan for back, since nothing is there", { isLoanBack: true }];
    if (isListed || (isZero && !this.#hasHistory)) return;
    yield* this.#evaluates(state);
    yield* signs(state);
  }

  /** Whether transactions are listed that this copy did not sign. */
  #lists(): boolean {
    return this.#hasHistory && this.#has("K15: a transaction of another copy counts, too");
  }

  #believesZero(): boolean {
    if (this.#hasHistory) return !this.#has("K15: the loan is back by a transaction");
    return this.#has("K15: without history the loan is back when all is decided and nothing is there");
  }

  /** The rest that is out. */
  *#ofRest(state: State, rest: Rest): Moves {
    if (rest.hasLanded) {
      const isLoanBack = state.isLoanBack || rest.toSponsor > 0;
      yield ["books the rest", { isLoanBack, booked: state.booked + rest.toSender, rest: null }];
      return;
    }
    const { balance, toSender, toSponsor } = state;
    // A loan that went back before is given once more only by who cannot know of it.
    const isTwice = rest.toSponsor > 0 && toSponsor > 0 && this.#hasHistory;
    if (balance === rest.toSender + rest.toSponsor && !isTwice) {
      const given = { toSender: toSender + rest.toSender, toSponsor: toSponsor + rest.toSponsor };
      yield ["the rest lands", { ...given, balance: 0, rest: { ...rest, hasLanded: true } }];
    }
    yield ["its bytes die", { rest: null }];
  }

  *#evaluates(state: State): Moves {
    const { balance, booked, received, deposited, isShort, missing } = state;
    const lent = state.hasPaid && !state.isLoanBack ? LOAN : 0;
    const mayBeBelow = this.#has("K15: what is held may be below 0");
    const held = mayBeBelow ? balance - lent : Math.max(0, balance - lent);
    const present = held + (state.hasPaid ? AMOUNT : 0) + booked;
    const isUnlisted = this.#hasHistory && deposited > received;
    if (present > received || (isUnlisted && present !== received)) {
      const level = this.#hasHistory ? Math.max(present, deposited) : present;
      yield [`the level is ${level}`, { received: level, isShort: false }];
    } else if (present < received && !isShort) yield ["it is short, once", { isShort: true }];
    else if (present < received && missing !== received - present) {
      yield [`tells ${received - present} missing`, { missing: received - present }];
    } else if (present === received && (isShort || missing > 0)) {
      yield ["the sums close", { isShort: false, missing: 0 }];
    }
    if (isUnlisted) yield ["reconcile lists the history", { received: deposited }];
  }
}

type Moves = Generator<readonly [act: string, change: Partial<State>]>;

function* worldMoves({ balance, deposited, hasPaid, isLateHere, stolen, toSponsor, rest }: State): Moves {
  if (!isLateHere) {
    yield ["5 come late", { isLateHere: true, balance: balance + LATE, deposited: deposited + LATE }];
  }
  for (const sum of new Set([1, balance])) {
    if (stolen > 0 || balance === 0) continue;
    yield [`the thief takes ${sum}`, { balance: balance - sum, stolen: sum }];
  }
  if (hasPaid && balance === LOAN && toSponsor === 0 && rest === null) {
    yield ["another copy's rest gives 2 to the sponsor", { balance: 0, toSponsor: LOAN }];
  }
}

/** A rest of all that is there: first the loan, if it is not back. */
function* signs({ balance, hasPaid, isLoanBack }: State): Moves {
  const toSponsor = isLoanBack ? 0 : LOAN;
  if (!hasPaid || balance < toSponsor || balance === 0) return;
  const rest = { toSender: balance - toSponsor, toSponsor, hasLanded: false };
  yield [`signs a rest of ${rest.toSender}, and ${toSponsor} to the sponsor`, { rest }];
}
