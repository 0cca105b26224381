/**
 * What a person writes off. 8 come, then 3. A thief takes all once, or all witnesses say for two readings that nothing is
 * there. A person concludes what is told missing.
 */
import type { Step, System } from "../explore.ts";

/** The rules that can be taken out. */
export type WrittenOffRule =
  | "K15: what is written off counts as sent"
  | "K15: what turns up again lessens it"
  | "K15: a deposit that is listed does not lessen it";

const DEPOSITS = [8, 3];

interface State {
  readonly balance: number;
  readonly deposits: number;
  readonly deposited: number;
  readonly stolen: number;
  readonly lie: "none" | "told" | "over";
  readonly received: number;
  readonly writtenOff: number;
  readonly booked: number;
  readonly isShort: boolean;
  readonly missing: number;
  /** All that was ever concluded. */
  readonly concluded: number;
}

const START: State = {
  balance: 0,
  deposits: 0,
  deposited: 0,
  stolen: 0,
  lie: "none",
  received: 0,
  writtenOff: 0,
  booked: 0,
  isShort: false,
  missing: 0,
  concluded: 0,
};

/** One search. */
export class WrittenOffModel implements System<State> {
  readonly start = START;
  readonly key = JSON.stringify;
  readonly #without: WrittenOffRule | undefined;

  constructor(without?: WrittenOffRule) {
    this.#without = without;
  }

  readonly broken = ({ received, deposited, missing, lie, concluded, stolen }: State): string | null => {
    if (received > deposited) return "no more is told received than came";
    if (missing > 0 && lie === "none" && concluded >= stolen) {
      return "what was concluded is not told missing again";
    }
    return null;
  };

  /** All that came was sent, or was stolen and is written off. */
  readonly isEnd = (state: State): boolean => {
    const { lie, received, deposited, missing, isShort, balance, writtenOff, stolen, booked } = state;
    const isQuiet = lie !== "told" && missing === 0 && !isShort && balance === 0;
    return isQuiet && received === deposited && writtenOff === stolen && booked + writtenOff === deposited;
  };

  *steps(state: State): Generator<Step<State>> {
    for (const [act, change] of worldMoves(state)) yield { act, state: { ...state, ...change }, by: "world" };
    for (const [act, change] of this.#moves(state)) {
      yield { act, state: { ...state, ...change }, by: "service" };
    }
  }

  #has(rule: WrittenOffRule): boolean {
    return this.#without !== rule;
  }

  *#moves(state: State): Moves {
    const { lie, received, deposited, writtenOff, booked, missing, concluded } = state;
    if (lie === "told") yield ["all witnesses tell the truth", { lie: "over" }];
    const isLowered = !this.#has("K15: what is written off counts as sent");
    const balance = lie === "told" ? 0 : state.balance;
    const present = balance + booked + (isLowered ? 0 : writtenOff);
    yield* this.#evaluates(state, present);
    if (deposited > received && !isLowered) yield ["reconcile lists the history", { received: deposited }];
    if (missing > 0 && missing === received - present) {
      const rows = isLowered ? { received: received - missing } : { writtenOff: writtenOff + missing };
      const change = { ...rows, concluded: concluded + missing, missing: 0, isShort: false };
      yield [`a person concludes ${missing}`, change];
    }
    if (balance > 0 && received >= present) {
      yield ["a rest lands and is booked", { booked: booked + balance, balance: 0 }];
    }
  }

  *#evaluates({ received, deposited, writtenOff, isShort, missing }: State, present: number): Moves {
    const counts = this.#has("K15: what is written off counts as sent");
    const known = this.#has("K15: a deposit that is listed does not lessen it")
      ? Math.max(received, deposited)
      : received;
    const isBackAgain = counts && this.#has("K15: what turns up again lessens it");
    if (isBackAgain && writtenOff > 0 && present > known) {
      const lessened = writtenOff - Math.min(writtenOff, present - known);
      yield ["what was written off is lessened", { writtenOff: lessened, isShort: false, missing: 0 }];
    } else if (present > received || (!counts && deposited > received)) {
      const level = Math.max(present, deposited);
      yield [`the level is ${level}`, { received: level, isShort: false }];
    } else if (present < received && !isShort) yield ["it is short, once", { isShort: true }];
    else if (present < received && missing !== received - present) {
      yield [`tells ${received - present} missing`, { missing: received - present }];
    } else if (present === received && (isShort || missing > 0)) {
      yield ["the sums close", { isShort: false, missing: 0 }];
    }
  }
}

type Moves = Generator<readonly [act: string, change: Partial<State>]>;

function* worldMoves({ balance, deposits, deposited, stolen, lie }: State): Moves {
  const amount = DEPOSITS[deposits];
  if (amount !== undefined) {
    const more = { deposits: deposits + 1, deposited: deposited + amount };
    yield [`${amount} come`, { ...more, balance: balance + amount }];
  }
  if (balance === 0 || stolen > 0) return;
  yield [`the thief takes ${balance}`, { stolen: balance, balance: 0 }];
  if (lie === "none") yield ["all witnesses say that nothing is there", { lie: "told" }];
}
