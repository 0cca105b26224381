/** The chain, the copies and what was told, as one state of the copies' search. */
/** No marker, no outcome known. */
export const NONE = -1;
/** In place of a chunk: a rest to the sender. */
export const REST = 2;

/** What one transaction of a chunk pays. */
export interface Outcome {
  readonly name: string;
  readonly recipients: readonly number[];
  readonly fee: 0 | 1;
  /** The order is refused as a whole. */
  readonly isNoGo?: true;
}

/** An order of a and b with the fee in chunk 0, and c in chunk 1: each gets 1. */
export const OUTCOMES: readonly (readonly Outcome[])[] = [
  [
    { name: "all", recipients: [0, 1], fee: 1 },
    { name: "without b", recipients: [0], fee: 1 },
    { name: "the no-go", recipients: [], fee: 0, isNoGo: true },
  ],
  [
    { name: "all", recipients: [2], fee: 0 },
    { name: "nobody", recipients: [], fee: 0 },
  ],
];
/** The place of the no-go among the outcomes of chunk 0. */
export const NO_GO = 2;
/** What the whole order takes. */
export const NEEDED = 4;
/** a, b and c, by bit. */
export const EVERYBODY = 7;

/** A final status that stands on no marker. */
export type End = "failed" | "cancelled";

/** Where an order is that has no decision yet: waits for money, has it, refuses, is over. */
export const PHASES = ["waiting", "found", "refusing", "over"] as const;
export type Phase = (typeof PHASES)[number];

/** What a copy has in its database. */
export interface Row {
  readonly phase: Phase;
  /** The outcome of each chunk that it knows. */
  readonly outcomes: readonly number[];
  /** Which outcomes of chunk 0 it has signed, by bit; kept only where the search is about what is told. */
  readonly signed: number;
  /** The end that the closed row is on its way to. */
  readonly ends: End | null;
  /** As what it was over first; kept with a journal, and never changed. */
  readonly status: End | null;
}

/** What a copy has in its memory. */
export interface Reading {
  readonly markers: readonly number[];
  readonly balance: number;
  readonly isWindowOver: boolean;
  /** Whether every own attempt is dead, and 151 blocks have passed since the process began. */
  readonly isDead: boolean;
  readonly isLongAgo: boolean;
}

/** A line of the journal. */
export interface Line {
  readonly status: End;
  /** The phase that the end was reached from; null where a closed row makes that needless. */
  readonly from: Phase | null;
}

/** A process on its database. */
export interface Copy {
  readonly row: Row;
  readonly reading: Reading | null;
  /** It has begun, and has not read the journal yet. */
  readonly isStarting: boolean;
  /** 2 when it has just begun; 151 blocks take 1 off. */
  readonly youth: number;
  /** Without closed rows: the end whose line it has written, and which it is about to commit. */
  readonly commits: Line | null;
}

/** Bytes that may land: those of a chunk's outcome, or of a rest's sum. */
export interface SignedBytes {
  readonly chunk: number;
  readonly what: number;
  /** 2 when they are signed; 151 blocks take 1 off, and with 0 they are dead. */
  readonly life: number;
}

/** All of it. */
export interface State {
  readonly markers: readonly number[];
  readonly balance: number;
  readonly deposits: number;
  readonly isWindowOver: boolean;
  readonly paid: readonly number[];
  readonly fees: number;
  readonly toSender: number;
  readonly bytes: readonly SignedBytes[];
  /** Of whom it was told by a marker, by bit. */
  readonly toldPaid: number;
  readonly toldUnpaid: number;
  /** What was told without a marker; `over` where no journal keeps which end it was. */
  readonly toldEnd: End | "over" | null;
  readonly journal: Line | null;
  readonly backup: Row | null;
  readonly copies: readonly (Copy | null)[];
  /** The promise that a step has broken which leaves no other trace. */
  readonly wrong: string | null;
}

const NEW_ROW: Row = { phase: "waiting", outcomes: [NONE, NONE], signed: 0, ends: null, status: null };

/** A process that begins on a database. */
export function begun(row: Row, parts: Pick<Copy, "isStarting" | "youth">): Copy {
  return { row, reading: null, commits: null, ...parts };
}

/** Before anything has come: the first copy runs. */
export function empty(copies: number): State {
  const first = begun(NEW_ROW, { isStarting: false, youth: 0 });
  return {
    markers: [NONE, NONE],
    balance: 0,
    deposits: 0,
    isWindowOver: false,
    paid: [0, 0, 0],
    fees: 0,
    toSender: 0,
    bytes: [],
    toldPaid: 0,
    toldUnpaid: 0,
    toldEnd: null,
    journal: null,
    backup: null,
    copies: Array.from({ length: copies }, (_, place) => (place === 0 ? first : null)),
    wrong: null,
  };
}
