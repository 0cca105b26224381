/** An order of two chunks with all that decides about it, as one state of the search. */
import { packed } from "../explore.ts";
import type { OrderPosition } from "./edges.ts";

/** From nothing over dust, and what counts as a deposit but is not worth its refund, to what is, and to the whole deposit. */
export const MONEY = ["nothing", "dust", "too little", "worth a refund", "all"] as const;
export type Money = 0 | 1 | 2 | 3 | 4;
export const DUST = 1;
export const WORTH = 3;
export const ALL = 4;

/** The marker of chunk 0, and of chunk 1. */
export type Marker0 = "none" | "go" | "noGo";
export type Marker1 = "none" | "all" | "nobody";

/** The chart's position, and everything around it. */
export interface OrderState extends OrderPosition {
  /** What the rows have of the markers. */
  readonly row0: Marker0;
  readonly row1: Marker1;
  /** Whether a reading has missed the marker of a row. */
  readonly isMissed: boolean;
  /** What the chain has. */
  readonly marker0: Marker0;
  readonly marker1: Marker1;
  readonly money: Money;
  readonly isWindowOver: boolean;
  /** Own bytes of chunk 0's go: those of all else may land for ever once they are signed. */
  readonly go: "none" | "alive" | "dead";
  readonly isNoGoSigned: boolean;
  readonly isChunk1Signed: boolean;
  /** Chunk 1 given up, by a person, and signed. */
  readonly isForeclosed: boolean;
  readonly isPriceKnown: boolean;
  /** The price is below the minimum. */
  readonly isBelow: boolean;
  readonly isHeld: boolean;
  readonly payers: "unknown" | "clean" | "refused" | "the sender is refused";
  readonly isReleased: boolean;
  readonly isUnpayable: boolean;
  /** What all witnesses say stands, and does not. */
  readonly lie: "none" | "go" | "noGo" | "chunk 1";
  readonly hasLied: boolean;
  /** Whether the order was ever to be refused, and whether a person has declined it or given up a chunk behind a lie. */
  readonly isNobodyWanted: boolean;
  readonly isDeclined: boolean;
  readonly isPartial: boolean;
  /** The end of a row that is closing, and of the journal's line that a database set back has lost. */
  readonly ends: "none" | "failed" | "cancelled";
  readonly line: "none" | "failed" | "cancelled";
  /** The promise that the last step broke. */
  readonly broken: string | null;
}

export const START: OrderState = {
  place: "waiting",
  status: "pending",
  decision: "open",
  row0: "none",
  row1: "none",
  isMissed: false,
  marker0: "none",
  marker1: "none",
  money: 0,
  isWindowOver: false,
  go: "none",
  isNoGoSigned: false,
  isChunk1Signed: false,
  isForeclosed: false,
  isPriceKnown: true,
  isBelow: false,
  isHeld: false,
  payers: "unknown",
  isReleased: false,
  isUnpayable: false,
  lie: "none",
  hasLied: false,
  isNobodyWanted: false,
  isDeclined: false,
  isPartial: false,
  ends: "none",
  line: "none",
  broken: null,
};

const FIELDS = Object.keys(START) as (keyof OrderState)[];
const numbers = new Map<unknown, number>();

/** Tells states apart. A value has the number of its first use. */
export function stateKey(state: OrderState): string {
  return packed(FIELDS.map((field) => numberOf(state[field])));
}

function numberOf(value: unknown): number {
  const known = numbers.get(value);
  if (known !== undefined) return known;
  numbers.set(value, numbers.size);
  return numbers.size - 1;
}

/** What witnesses show: the chain, or a lie in its place. */
export interface Shown {
  readonly marker0: Marker0;
  readonly marker1: Marker1;
  readonly money: Money;
}

export function shownOf({ lie, marker0, marker1, money }: OrderState): Shown {
  const isChunk1 = lie === "go" || lie === "chunk 1";
  return {
    marker0: lie === "go" || lie === "noGo" ? lie : marker0,
    marker1: isChunk1 ? "all" : marker1,
    money: isChunk1 ? 0 : money,
  };
}

/** A change of the state, and who made it: see `explore`. */
export interface Move {
  readonly act: string;
  readonly by: "service" | "world";
  readonly to: Partial<OrderState>;
}

/** Moves in their order. */
export type Moves = Generator<Move, void>;

export const world = (act: string, to: Partial<OrderState>): Move => ({ act, by: "world", to });
export const service = (act: string, to: Partial<OrderState>): Move => ({ act, by: "service", to });
