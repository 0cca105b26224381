/** Which event of the order's chart follows from what a reading says (K17): markers come first, in every state. */
import { isDue, paidIn, receivedIn, type OrderFacts } from "./facts.ts";
import { NOBODY } from "./outcome.ts";
import type { OrderRows, OrderState, OrderView } from "./rows.ts";
import type { OrderTerms } from "./terms.ts";

/** An event that a reading tells the chart, as the chart names it. */
export type OrderNews =
  | { readonly type: "GO" | "NO_GO" | "MARKS" | "FUNDED" | "LATE" | "EMPTY" | "BELOW_COST" }
  | { readonly type: "GONE"; readonly chunk: number; readonly isNobodyWanted: boolean }
  /** `isRefused`: a no-go is bought to give back what came. */
  | { readonly type: "WINDOW_OVER"; readonly reason: WindowReason; readonly isRefused: boolean }
  | { readonly type: "DECIDED"; readonly paid: "all" | "some" | "none" };

/** Nothing of the order's asset came within the window, or too little. */
export type WindowReason = "DEPOSIT_TIMEOUT" | "INCOMPLETE_DEPOSIT";

/** The event that follows, or null. The rows are those that the facts were made of. */
export function nextOf(state: OrderState, facts: OrderFacts, { terms, rows }: OrderView): OrderNews | null {
  const isGo = facts.decision === "go";
  const [first] = facts.chunks;
  if (first?.isNew === true) return { type: isGo ? "GO" : "NO_GO" };
  if (isGo && facts.chunks.some(({ isNew }) => isNew)) return { type: "MARKS" };
  const gone = facts.chunks.find(({ k, isGone }) => isGone && (k === 0 || isGo));
  if (gone !== undefined) {
    const row = rows.chunks[gone.k];
    const isNobodyWanted = row?.wanted === NOBODY || row?.length === NOBODY;
    return { type: "GONE", chunk: gone.k, isNobodyWanted };
  }
  if (facts.isUnclear) return null;
  switch (state) {
    case "waiting":
      return facts.isFunded ? { type: "FUNDED" } : windowOver(facts, terms);
    case "deciding":
      return null;
    case "paying":
    case "over.paying":
      return decided(facts, terms, rows);
    case "refusing":
      return rows.isGoDead && ended(facts) !== null ? { type: "BELOW_COST" } : null;
    case "over.refusing":
    case "over.resting":
      return ended(facts);
    case "over.idle":
      // Money that waits for a price or for the purse is no dust: its transfer tells a person.
      return isDue(facts.worth) ? { type: "LATE" } : null;
  }
}

function windowOver({ afterWindow, levels }: OrderFacts, { mint }: OrderTerms): OrderNews | null {
  if (afterWindow !== "refused" && afterWindow !== "over") return null;
  const received = receivedIn(levels, mint);
  return {
    type: "WINDOW_OVER",
    isRefused: afterWindow === "refused",
    reason: received === 0n ? "DEPOSIT_TIMEOUT" : "INCOMPLETE_DEPOSIT",
  };
}

function decided(facts: OrderFacts, terms: OrderTerms, { chunks }: OrderRows): OrderNews | null {
  if (!facts.isDecided || chunks.some(({ story }) => story === "awaited")) return null;
  const paid = paidIn(terms, facts).length;
  // A recovered order has no recipients on record: its markers alone tell.
  const isKnown = terms.members.length > 0;
  const isAll = isKnown ? paid === terms.members.length : facts.chunks.every(({ marker }) => marker === 0);
  return { type: "DECIDED", paid: isAll ? "all" : isKnown && paid === 0 ? "none" : "some" };
}

function ended({ worth }: OrderFacts): OrderNews | null {
  if (worth === "nothing") return { type: "EMPTY" };
  return worth === "not_worth" ? { type: "BELOW_COST" } : null;
}
