/** Tells which transactions of another copy of this database could be paid a second time here: those without a standing marker. */
import type { TransactionView } from "../payment-storage.ts";
import type { DepositRecord } from "../records.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import { proofOf, readPlan } from "../outgoing/plans/stored-plan.ts";
import { ORDER_WORDS } from "../outgoing/plans/words.ts";

/** Reads which payments the chain would refuse. */
interface MarkerReading {
  readonly ledger: Pick<Ledger, "markers" | "markedBy">;
  readonly keys: DepositKeys;
}

/**
 * Those of the transactions that made none of the markers under which this database may still pay: the order's own, and
 * those of its open payments. The marker has to stand now: one that was swept has a maker too, and refuses nothing.
 */
export async function repeatableSpending(
  { ledger, keys }: MarkerReading,
  { payments, deposit }: Pick<TransactionView, "payments"> & { readonly deposit: DepositRecord },
  unknown: readonly string[],
): Promise<readonly string[]> {
  if (unknown.length === 0) return [];
  const open = payments
    .filter(({ status }) => status !== "finalized" && status !== "failed")
    .flatMap(({ plan }) => proofOf(readPlan(plan))?.words ?? []);
  const seeds = [...new Set([ORDER_WORDS, ...open])].map((words) => keys.seed(deposit, words));
  const { markers } = await ledger.markers(deposit.id, seeds);
  const standing = seeds.filter((_, index) => typeof markers[index] === "object");
  const makers = await Promise.all(standing.map((seed) => ledger.markedBy(deposit.id, seed)));
  const refused = new Set<string | null>(
    makers.map((maker) => (maker === null || maker === "foreign" ? null : maker.signature)),
  );
  return unknown.filter((signature) => !refused.has(signature));
}
