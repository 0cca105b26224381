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
  /** Whom it paid; null if it does not stand, or says nothing that is known. */
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

/** What the money is worth to the sender, or what a return of it waits for; `held`: the order's own account is frozen. */
export type Worth = "worth" | "waiting_for_price" | "purse_frozen" | "held" | "not_worth" | "nothing";

/** `refused`: what came is worth its return, waits, or is held. `disputed`: endpoints show money that leads to different ends. */
export type AfterWindow = "funded" | "refused" | "over" | "disputed";

/** What markers and balances say. */
export interface MarkerFacts {
  readonly chunks: readonly ChunkFact[];
  /** What chunk 0's marker says for ever. */
  readonly decision: "open" | "go" | "no_go";
  /** Whether no payee can be paid any more: a no-go, or every marker stands. */
  readonly isDecided: boolean;
  /** Whether a marker is disputed, of an unknown owner, or missed: then nothing more is concluded. */
  readonly isUnclear: boolean;
  /** Lamports that were lent and are not back. */
  readonly loan: bigint;
  /** Whether this reading alone says that they are: no node lists, all is decided, and nothing is there. */
  readonly isLoanFoundBack: boolean;
  readonly levels: readonly LevelFact[];
}

/** The facts of an order: also what is due. */
export interface OrderFacts extends MarkerFacts {
  /** Whether no endpoint shows a marker or 0.001 of the asset, and its level does not: a cancel needs it. */
  readonly isUntouched: boolean;
  /** Whether the deposit is there, and its level says that it came. */
  readonly isFunded: boolean;
  /** What the money is worth, as so many endpoints alike lead to; null if they differ. */
  readonly worth: Worth | null;
  /** What becomes of the wait once so many endpoints are past the deposit window; null before. */
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

/** What has come of the order's asset, as this reading tells it. */
export function receivedIn(levels: readonly LevelFact[], mint: string): bigint {
  const level = levels.find(({ row }) => row.mint === mint);
  return (level?.judgement?.row ?? level?.row)?.received ?? 0n;
}
