/**
 * Lists the open markers of an order, which a payment to recipients may still make: they are replaced before money goes
 * back.
 */
import type { PaymentRecord } from "../../tables/payments.ts";
import { proofOf, readPlan, type StoredPlan } from "./stored-plan.ts";
import { ORDER_WORDS } from "./words.ts";

/** Words under which no payment has landed yet. */
export interface OpenMarker {
  readonly words: string;
  /** The plan that names the words; null for the words of the order itself. */
  readonly follows: string | null;
  /** The recipients of the words; null for all recipients of the order. */
  readonly indexes: readonly number[] | null;
}

/** Open words in tree order: first the words of the order, then the words that plans name. */
export function openMarkers(payments: readonly PaymentRecord[]): readonly OpenMarker[] {
  const landed = payments
    .filter(({ status }) => status === "finalized")
    .map(({ plan }) => readPlan(plan))
    .map((plan) => ({ plan, proof: proofOf(plan) }));

  const openBelow = (open: OpenMarker): readonly OpenMarker[] => {
    const found = landed.find(({ proof }) => proof?.words === open.words);
    if (found === undefined) return [open];
    const { plan, proof } = found;
    return leavesOf(plan).flatMap(({ words, indexes }) =>
      openBelow({ words, indexes, follows: proof?.planWords ?? null }),
    );
  };
  return openBelow({ words: ORDER_WORDS, follows: null, indexes: null });
}

function leavesOf({ leaves }: StoredPlan): NonNullable<StoredPlan["leaves"]> {
  return leaves ?? [];
}
