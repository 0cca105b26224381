/**
 * A marker that this copy of the database did not make, and a lie that all witnesses told. An order of one chunk, 8 to its
 * payee. A thief with the key may make the marker in one transaction and pay in another, or name it only through a lookup
 * table or an inner instruction. The history comes within the hour, later, or never.
 */
import type { Step, System } from "../explore.ts";

/** The rules that can be taken out. */
export type ForeignMarkerRule =
  | "K4: a foreign marker is told by its own transactions"
  | "K4: a transaction that names it in a lookup table tells it, too"
  | "K4: every transaction that names it tells it"
  | "K4: without history it is told by its length, but not before an hour"
  | "K4: without history it is told by its length after an hour"
  | "K14: a marker that a row has and the chain has not is told and made again"
  | "K14: from the first reading without it on nothing is given to the sender";

const AMOUNT = 8;

type Marker = "none" | "paid" | "forged" | "hidden" | "split";

interface State {
  readonly marker: Marker;
  readonly balance: number;
  readonly paid: number;
  readonly stolen: number;
  /** A rest of the order, taken for undecided, to the sender. */
  readonly toSender: number;
  /** The marker as the row of this copy has it. */
  readonly row: Marker;
  readonly told: "nothing" | "paid" | "unpaid";
  readonly toldBy: "nobody" | "its transactions" | "its length";
  readonly hasHistory: boolean;
  readonly isHourOver: boolean;
  /** Readings without the marker of the row. */
  readonly gaps: number;
  readonly matter: "none" | "missing" | "unexplained";
  readonly lie: "none" | "told" | "over";
  readonly isPlannedAgain: boolean;
}

const START: State = {
  marker: "none",
  balance: AMOUNT,
  paid: 0,
  stolen: 0,
  toSender: 0,
  row: "none",
  told: "nothing",
  toldBy: "nobody",
  hasHistory: true,
  isHourOver: false,
  gaps: 0,
  matter: "none",
  lie: "none",
  isPlannedAgain: false,
};

/** One search. */
export class ForeignMarkersModel implements System<State> {
  readonly start = START;
  readonly key = JSON.stringify;
  readonly #without: ForeignMarkerRule | undefined;

  constructor(without?: ForeignMarkerRule) {
    this.#without = without;
  }

  readonly broken = ({ toldBy, told, isHourOver, paid }: State): string | null =>
    toldBy === "its length" && told === "paid" && !isHourOver && paid === 0
      ? "nobody is told paid by the length while the history may come"
      : null;

  /** What happened is told, or is a matter for a person. */
  readonly isEnd = (state: State): boolean => {
    const { lie, paid, stolen, told, toldBy, matter, balance, hasHistory, marker, row } = state;
    if (lie === "told") return false;
    if (paid > 0) return balance === 0 && (told === "paid" || (matter === "unexplained" && lie === "over"));
    if (stolen === 0) return marker === "none" && row === "none" && balance === AMOUNT;
    return matter !== "none" || (!hasHistory && (toldBy === "its length" || lie === "over"));
  };

  *steps(state: State): Generator<Step<State>> {
    for (const [act, change] of worldMoves(state)) yield { act, state: { ...state, ...change }, by: "world" };
    for (const [act, change] of this.#moves(state)) {
      yield { act, state: { ...state, ...change }, by: "service" };
    }
  }

  #has(rule: ForeignMarkerRule): boolean {
    return this.#without !== rule;
  }

  *#moves(state: State): Moves {
    const { lie, row, told, toldBy, hasHistory, isHourOver, matter } = state;
    if (lie === "told") yield ["all witnesses tell the truth", { lie: "over" }];
    if (row !== "none" && !isHourOver) yield ["an hour passes", { isHourOver: true }];
    const shown = lie === "told" ? LIE : state;
    if (row === "none") {
      if (shown.marker !== "none") yield ["adopts the marker", { row: shown.marker, gaps: 0 }];
      else if (shown.balance < AMOUNT && state.toSender === 0) yield missing(state);
      return;
    }
    if (shown.marker !== "none" && told === "nothing") yield* this.#tells(state);
    if (shown.marker === "none") yield* this.#misses(state);
    if (lie === "told") return;
    const present = state.balance + (told === "paid" && state.marker !== "none" ? AMOUNT : 0);
    const isUnread = toldBy === "its length" && !hasHistory;
    if (present < AMOUNT && told !== "nothing" && !isUnread) yield missing(state);
    if (state.marker === "none" || told === "nothing" || !hasHistory) return;
    const isOther = this.#byTransactions(state.marker) !== told;
    if (isOther || row !== state.marker || toldBy === "its length") {
      const read = { row: state.marker, toldBy: "its transactions" } as const;
      yield ["reconcile reads its transactions again", { ...read, matter: isOther ? "unexplained" : matter }];
    }
  }

  *#tells({ lie, marker, hasHistory, isHourOver }: State): Moves {
    if (!this.#has("K4: a foreign marker is told by its own transactions")) {
      yield ["tells by its length", { told: "paid", toldBy: "its length" }];
    } else if (hasHistory || lie === "told") {
      const told = this.#byTransactions(lie === "told" ? LIE.marker : marker);
      yield ["tells by its transactions", { told, toldBy: "its transactions" }];
    } else {
      const isTime = isHourOver && this.#has("K4: without history it is told by its length after an hour");
      const isEarly = !this.#has("K4: without history it is told by its length, but not before an hour");
      if (isTime || isEarly) yield ["tells by its length", { told: "paid", toldBy: "its length" }];
    }
  }

  /** Whether the transactions that name a marker pay its payee. */
  #byTransactions(marker: Marker): "paid" | "unpaid" {
    if (marker === "paid") return "paid";
    if (marker === "split") {
      return this.#has("K4: every transaction that names it tells it") ? "paid" : "unpaid";
    }
    const isSeen = this.#has("K4: a transaction that names it in a lookup table tells it, too");
    return marker === "hidden" && !isSeen ? "paid" : "unpaid";
  }

  /** The row has a marker, and the chain shows none. */
  *#misses({ balance, gaps, toSender, isPlannedAgain }: State): Moves {
    if (this.#has("K14: a marker that a row has and the chain has not is told and made again")) {
      const isSecond = gaps >= 1;
      const found = isSecond ? ({ matter: "unexplained", isPlannedAgain: true } as const) : {};
      yield ["the marker of the row is not there", { gaps: Math.min(gaps + 1, 2), ...found }];
    }
    const isHasty = !this.#has("K14: from the first reading without it on nothing is given to the sender");
    if (isHasty && balance >= AMOUNT && gaps === 1) {
      yield [
        "the no-go and a rest to the sender land",
        { balance: balance - AMOUNT, toSender: toSender + AMOUNT },
      ];
    }
    if (isPlannedAgain && balance >= AMOUNT) yield ["the same outcome lands", paidAgain(balance)];
  }
}

type Moves = Generator<readonly [act: string, change: Partial<State>]>;

/** What all witnesses show when they lie: the payee is paid. */
const LIE = { marker: "paid", balance: 0 } as const;

function* worldMoves({ marker, balance, paid, stolen, toSender, lie, hasHistory }: State): Moves {
  if (marker === "none" && toSender === 0) {
    const gone = { stolen: stolen + balance, balance: 0 };
    const pays = { paid: paid + AMOUNT, balance: 0 };
    if (balance >= AMOUNT) yield ["another copy pays", { ...pays, marker: "paid" }];
    yield ["the thief makes the marker and takes all", { ...gone, marker: "forged" }];
    yield ["the thief makes the marker through a lookup table and takes all", { ...gone, marker: "hidden" }];
    if (balance >= AMOUNT) {
      yield ["the thief makes the marker, and pays in another transaction", { ...pays, marker: "split" }];
    }
    if (balance > 0 && stolen === 0) yield ["the thief takes all", gone];
  }
  if (lie === "none") yield ["all witnesses say that the payee is paid", { lie: "told" }];
  yield [hasHistory ? "there is no history" : "the history is back", { hasHistory: !hasHistory }];
}

function missing({ matter }: State): readonly [string, Partial<State>] {
  return ["tells it missing", { matter: matter === "none" ? "missing" : matter }];
}

function paidAgain(balance: number): Partial<State> {
  return { marker: "paid", balance: balance - AMOUNT, paid: AMOUNT, isPlannedAgain: false, told: "paid" };
}
