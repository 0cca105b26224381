/** The facts of an order: its markers, its levels, and the money that is due. */
import type { MarkerTold } from "../../../ledger/order-reading.ts";
import { paidMembers } from "./cut.ts";
import type { Judgement } from "./levels.ts";
import type { LevelRow } from "./rows.ts";
import type { Member, OrderTerms, Outcome } from "./terms.ts";

/** A chunk's marker, and what it says beside the chunk's row. */
export interface ChunkFact {
  readonly k: number;
  readonly marker: MarkerTold | "disputed";
  /** The payees of a marker; null if it does not stand, or says nothing that is known. */
  readonly outcome: Outcome | null;
  /** Whether the row has not seen it yet. */
  readonly isNew: boolean;
  /** Whether the row has seen it, and this reading has not, or has another length. */
  readonly isMissed: boolean;
  /** Whether so many endpoints miss it at a later slot than the row's. */
  readonly isMissedLater: boolean;
  /** Whether it was missed before, and is again at a later slot. */
  readonly isGone: boolean;
}

/** An asset's level as it is stored, and what this reading changes of it. */
export interface LevelFact {
  readonly row: LevelRow;
  readonly judgement: Judgement | null;
}

/** The worth of the money to the sender, or the obstacle to its return; `held`: the order's own account is frozen. */
export type Worth = "worth" | "waiting_for_price" | "purse_frozen" | "held" | "not_worth" | "nothing";

/** `refused`: what came is worth its return, waits, or is held. `disputed`: endpoints show money that leads to different ends. */
export type AfterWindow = "funded" | "refused" | "over" | "disputed";

/** The facts of markers and balances. */
export interface MarkerFacts {
  readonly chunks: readonly ChunkFact[];
  /** The final verdict of chunk 0's marker. */
  readonly decision: "open" | "go" | "no_go";
  /** Whether no payee can be paid any more: a no-go, or every marker stands. */
  readonly isDecided: boolean;
  /** Whether a marker is disputed, of an unknown owner, or missed: then nothing more is concluded. */
  readonly isUnclear: boolean;
  /** Lamports that were lent and are not back. */
  readonly loan: bigint;
  /** Whether this reading alone proves the end: no node lists, all is decided, and nothing is there. */
  readonly isLoanFoundBack: boolean;
  readonly levels: readonly LevelFact[];
}

/** The facts of an order: also what is due. */
export interface OrderFacts extends MarkerFacts {
  /** Whether no endpoint shows a marker or 0.001 of the asset, and its level does not: a cancel needs it. */
  readonly isUntouched: boolean;
  /** Whether the deposit is there, and its level has counted it. */
  readonly isFunded: boolean;
  /** The worth of the money, by the same conclusion from enough endpoints; null if they differ. */
  readonly worth: Worth | null;
  /** The end of the wait once enough endpoints are past the deposit window; null before. */
  readonly afterWindow: AfterWindow | null;
}

/** Whether something goes back: now, or once there is a price or a purse, or its account is thawed. */
export function isDue(worth: Worth | null): boolean {
  return worth !== null && worth !== "nothing" && worth !== "not_worth";
}

/** The recipients whom the markers paid. */
export function paidIn(terms: OrderTerms, { chunks }: MarkerFacts): readonly Member[] {
  return chunks.flatMap(({ k, outcome }) => (outcome === null ? [] : paidMembers(terms, k, outcome)));
}

/** The received sum of the order's asset, by this reading. */
export function receivedIn(levels: readonly LevelFact[], mint: string): bigint {
  const level = levels.find(({ row }) => row.mint === mint);
  return (level?.judgement?.row ?? level?.row)?.received ?? 0n;
}
