/** The chain, the rows and what is held in memory, as one state of the levels' search. */
import { packed } from "../explore.ts";

/** One order that is decided, and one asset. A slot is the number of transactions that have landed. */
export interface State {
  readonly slot: number;
  readonly balance: number;
  /** How many of the scenario's deposits have come, and their sum. */
  readonly deposits: number;
  readonly deposited: number;
  readonly toSender: number;
  readonly stolen: number;
  /** What the witness that is behind still shows. */
  readonly behind: { readonly balance: number; readonly slot: number };

  /** Rows: the level, what was booked, the slot of the last of either. */
  readonly received: number;
  readonly booked: number;
  readonly bookedAt: number;
  readonly isShort: boolean;
  readonly missing: number;
  /** Whether the order has nothing more to do. */
  readonly isIdle: boolean;
  readonly rest: Rest | null;
  /** Counts every change of `rest`, so that a reading knows which one it was made for. */
  readonly turn: number;

  /** In the memory of each process: a reading that it may use at any later time. */
  readonly readings: readonly (Reading | null)[];
}

/** A rest that was signed. */
export interface Rest {
  readonly sum: number;
  readonly isAlive: boolean;
  /** The slot at which it has landed, or null. */
  readonly landedAt: number | null;
}

/** What one process has read. */
export interface Reading {
  /** What its program signs a rest of. */
  readonly balance: number;
  /** What the witnesses say at least and at most, and the older one's slot: those who speak of one slot. */
  readonly least: number;
  readonly most: number;
  readonly slot: number;
  /** Of witnesses with their own slots: what each says. */
  readonly answers: readonly Answer[];
  readonly turn: number;
  /** What it shows of the rest that is out. */
  readonly rest: "landed" | "dead" | "open";
}

/** What one endpoint says, and the slot that it names. */
export interface Answer {
  readonly balance: number;
  readonly slot: number;
}

/** Before anything has come. */
export const EMPTY: State = {
  slot: 0,
  balance: 0,
  deposits: 0,
  deposited: 0,
  toSender: 0,
  stolen: 0,
  behind: { balance: 0, slot: 0 },
  received: 0,
  booked: 0,
  bookedAt: 0,
  isShort: false,
  missing: 0,
  isIdle: false,
  rest: null,
  turn: 0,
  readings: [null, null],
};

/** Slots count by how far they are apart: states that differ in nothing else are the same. */
export function keyOf(state: State): string {
  const numbers = [
    state.balance,
    state.behind.balance,
    state.slot - state.behind.slot,
    state.deposits,
    state.toSender,
    state.stolen,
    state.slot - state.bookedAt,
    state.received,
    state.booked,
    state.missing,
    (state.isShort ? 1 : 0) + (state.isIdle ? 2 : 0),
  ];
  addRest(numbers, state);
  for (const reading of state.readings) addReading(numbers, reading, state);
  return packed(numbers);
}

function addRest(numbers: number[], { rest, slot }: State): void {
  if (rest === null) numbers.push(NONE);
  else numbers.push(rest.sum, rest.isAlive ? 1 : 0, rest.landedAt === null ? NONE : slot - rest.landedAt);
}

function addReading(numbers: number[], reading: Reading | null, { bookedAt, turn }: State): void {
  if (reading === null) numbers.push(NONE);
  else {
    const isOfTurn = reading.turn === turn ? 1 : 0;
    numbers.push(isOfTurn, reading.balance, reading.least, reading.most, REST_SEEN[reading.rest]);
    numbers.push(since(reading, bookedAt), reading.answers.length);
    for (const answer of reading.answers) numbers.push(answer.balance, since(answer, bookedAt));
  }
}

/** What is older than the rows counts for nothing, however old it is. */
function since({ slot }: Answer | Reading, bookedAt: number): number {
  return Math.max(NONE, slot - bookedAt);
}

const NONE = -1;
const REST_SEEN = { landed: 0, dead: 1, open: 2 };
