/** How many markers of an order stand, by what the database knows: those that its payments have made and no sweep has taken away. */
import type { PaymentRecord } from "../../records.ts";
import { readPlan } from "./stored-plan.ts";

/** Markers that landed payments have made, without those that landed sweeps have closed. */
export function standingMarkers(payments: readonly Pick<PaymentRecord, "status" | "plan">[]): number {
  const moves = payments
    .filter(({ status }) => status === "finalized")
    .flatMap(({ plan }) => readPlan(plan).moves);
  const made = new Set(
    moves.flatMap((move) => {
      if (move.does === "mark") return [move.words];
      return move.does === "replace" ? [move.words, move.planWords] : [];
    }),
  );
  for (const move of moves) if (move.does === "unmark") made.delete(move.words);
  return made.size;
}
