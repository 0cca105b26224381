/** Reads from a marker what another copy of this database has planned in the place of what the marker stands for. */
import type { DepositRecord } from "../records.ts";
import type { TransactionView } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Assets } from "../assets/assets.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import { possiblePlans, type PossiblePlan } from "./plans/possible-plans.ts";

/** A marker that names the marker of a plan. */
export interface ReplacedMarker {
  readonly deposit: DepositRecord;
  readonly view: Pick<TransactionView, "transaction" | "recipients">;
  readonly words: string;
  readonly delegate: Address;
}

/** What naming a plan takes. */
export interface PlanNaming {
  readonly ledger: Pick<Ledger, "markerAddress">;
  readonly keys: DepositKeys;
  readonly assets: Assets;
}

/** So many markers are derived in a few milliseconds; then others have their turn. */
const DERIVED_PER_TURN = 64;

/** Null where the marker names no plan of payouts: a refund, or something else. */
export async function plannedElsewhere(
  { ledger, keys, assets }: PlanNaming,
  { deposit, view, words, delegate }: ReplacedMarker,
): Promise<PossiblePlan | null> {
  const order = { recipients: view.recipients, asset: assets.named(view.transaction.mint) };
  let derived = 0;
  for (const plan of possiblePlans(words, order)) {
    if (++derived % DERIVED_PER_TURN === 0) await new Promise(setImmediate);
    if (ledger.markerAddress(deposit.id, keys.seed(deposit, plan.planWords)) === delegate) return plan;
  }
  return null;
}
