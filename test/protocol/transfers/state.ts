/** A transfer with all that decides about it, as one state of the search. */
// modules: private
import { packed } from "../explore.ts";
import type { TransferPosition } from "./edges.ts";
import type { Scenario } from "./scenario.ts";

/** Whom a chunk's transaction pays; of what is no chunk, `all` is the one thing that is sent. */
export const OUTCOMES = ["all", "some", "nobody"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What a marker says: of a chunk its outcome, of an act whose it is, with its sum or less. */
export type Marker = Outcome | "this act" | "this act, less" | "another act";

/** The chart's position, and everything around it. */
export interface TransferState extends TransferPosition {
  /** The chunk's row. */
  readonly want: Outcome;
  /** Own bytes that may land. */
  readonly bytes: readonly Outcome[];
  readonly marker: Marker | null;
  /** What the chart has heard of the marker. */
  readonly told: Marker | null;
  /** Whether own bytes have landed. */
  readonly isOwn: boolean;
  /** How much was paid out of the balance of 2. */
  readonly paid: number;
  readonly balance: number;
  /** How often the act was carried out. */
  readonly sent: number;
  readonly isHeld: boolean;
  readonly hasPurse: boolean;
  /** How many of the two payees can take the money. */
  readonly payees: number;
  readonly isDeclined: boolean;
  /** All witnesses say that everybody is paid: not yet, now, no more. */
  readonly lie: "none" | "told" | "over";
  readonly isDayOver: boolean;
  /** The promise that the last step broke. */
  readonly broken: string | null;
}

export function startOf({ sends }: Scenario): TransferState {
  return {
    kind: sends === "go" || sends === "later" ? "chunk" : sends,
    place: "pausing",
    isNobodyWanted: false,
    want: "all",
    bytes: [],
    marker: null,
    told: null,
    isOwn: false,
    paid: 0,
    balance: 2,
    sent: 0,
    isHeld: false,
    hasPurse: true,
    payees: 2,
    isDeclined: false,
    lie: "none",
    isDayOver: false,
    broken: null,
  };
}

const numbers = new Map<unknown, number>();

/** Tells states apart. A value has the number of its first use. */
export function stateKey({ bytes, ...facts }: TransferState): string {
  const signed = OUTCOMES.map((outcome) => (bytes.includes(outcome) ? 1 : 0));
  return packed([...signed, ...Object.values(facts).map(numberOf)]);
}

function numberOf(value: unknown): number {
  const known = numbers.get(value);
  if (known !== undefined) return known;
  numbers.set(value, numbers.size);
  return numbers.size - 1;
}

/** A change of the state, and who made it: see `explore`. */
export interface Move {
  readonly act: string;
  readonly by: "service" | "world";
  readonly to: Partial<TransferState>;
}

/** Moves in their order. */
export type Moves = Generator<Move, void>;

export const world = (act: string, to: Partial<TransferState>): Move => ({ act, by: "world", to });
export const service = (act: string, to: Partial<TransferState>): Move => ({ act, by: "service", to });

/** How many payees must be able to take the money. */
const NEED: Readonly<Record<Outcome, number>> = { all: 2, some: 1, nobody: 0 };

/** Whether enough payees can take the money. */
export function canPay({ payees }: TransferState, outcome: Outcome): boolean {
  return payees >= NEED[outcome];
}
