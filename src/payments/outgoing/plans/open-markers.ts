/** Which markers of an order may still be made by a payment to its recipients: they are replaced before money goes back. */
import type { PaymentRecord } from "../../tables/payments.ts";
import { proofOf, readPlan, type StoredPlan } from "./stored-plan.ts";
import { ORDER_WORDS } from "./words.ts";

/** Words under which no payment has landed yet. */
export interface OpenMarker {
  readonly words: string;
  /** The plan that names them, null for those of the order itself. */
  readonly follows: string | null;
  /** The recipients that they stand for, null for all of the order's. */
  readonly indexes: readonly number[] | null;
}

/** In the order of the tree: first what the order itself stands for, then what its plans name. */
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
