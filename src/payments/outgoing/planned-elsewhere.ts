/** Reads from a marker what another copy of this database has planned in the place of what the marker stands for. */
import type { DepositRecord } from "../tables/deposits.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { Address } from "../../address.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { isTurnOver, nextTurn } from "../../runtime.ts";
import type { Assets } from "../assets/assets.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import { possiblePlans, type PossiblePlan } from "./plans/possible-plans.ts";

/** A marker that names the marker of a plan. */
interface ReplacedMarker {
  readonly deposit: DepositRecord;
  readonly view: Pick<TransactionView, "transaction" | "recipients">;
  readonly words: string;
  readonly delegate: Address;
}

/** Dependencies of naming a plan. */
export interface PlanNameParts {
  readonly ledger: Pick<Ledger, "markerAddress">;
  readonly keys: DepositKeys;
  readonly assets: Assets;
}

/** Null where the marker names no plan of payouts: a refund, or something else. */
export async function plannedElsewhere(
  { ledger, keys, assets }: PlanNameParts,
  { deposit, view, words, delegate }: ReplacedMarker,
): Promise<PossiblePlan | null> {
  const order = { recipients: view.recipients, asset: assets.named(view.transaction.mint) };
  for (const plan of possiblePlans(words, order)) {
    if (isTurnOver()) await nextTurn();
    if (ledger.markerAddress(deposit.id, keys.seed(deposit, plan.planWords)) === delegate) return plan;
  }
  return null;
}
