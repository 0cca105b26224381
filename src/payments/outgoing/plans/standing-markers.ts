/** Counts the existing markers of an order, by the database: made by its payments, and not yet swept. */
import type { PaymentRecord } from "../../tables/payments.ts";
import { wordsIn } from "./kept-accounts.ts";
import { readPlan } from "./stored-plan.ts";

/** Markers made by landed payments, without markers closed by landed sweeps. */
export function standingMarkers(payments: readonly Pick<PaymentRecord, "status" | "plan">[]): number {
  const plans = payments.filter(({ status }) => status === "finalized").map(({ plan }) => readPlan(plan));
  const made = new Set(plans.flatMap(wordsIn));
  const moves = plans.flatMap((plan) => plan.moves);
  for (const move of moves) if (move.does === "unmark") made.delete(move.words);
  return made.size;
}
