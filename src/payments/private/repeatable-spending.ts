/** Tells which transactions of another copy of this database could be paid a second time here: those without a standing marker. */
import type { TransactionView } from "../tables/orders.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { plannedElsewhere, type PlanNameParts } from "../outgoing/plans/possible-plans.ts";
import { proofOf, readPlan } from "../outgoing/plans/stored-plan.ts";
import { excessWords, ORDER_WORDS } from "../outgoing/plans/words.ts";

interface MarkerReading extends PlanNameParts {
  readonly ledger: Pick<Ledger, "markers" | "markedBy" | "markerAddress">;
}

/** An order, and the address that it is paid from. */
interface PaidOrder extends TransactionView {
  readonly deposit: DepositRecord;
}

/**
 * Filters unknown transactions that made no marker under which this database may still pay: the order's marker, the
 * markers of its open payments, and the markers that follow from existing markers. The marker must exist now: a swept
 * marker refuses nothing.
 */
export async function repeatableSpending(
  reading: MarkerReading,
  order: PaidOrder,
  unknown: readonly string[],
): Promise<readonly string[]> {
  if (unknown.length === 0) return [];
  const { ledger, keys } = reading;
  const { deposit } = order;
  const standing = await standingWords(reading, order);
  const makers = await Promise.all(
    standing.map((words) => ledger.markedBy(deposit.id, keys.seed(deposit, words))),
  );
  const refused = new Set<string | null>(
    makers.map((maker) => (maker === null || maker === "foreign" ? null : maker.signature)),
  );
  return unknown.filter((signature) => !refused.has(signature));
}

/**
 * Words that follow from existing markers, beginning with the markers of the order and of its open payments: the
 * payments of a plan that another copy has made, and the next refund of excess.
 */
async function standingWords(reading: MarkerReading, order: PaidOrder): Promise<readonly string[]> {
  const { deposit, payments } = order;
  const { ledger, keys } = reading;
  const open = payments
    .filter(({ status }) => status !== "finalized" && status !== "failed")
    .flatMap(({ plan }) => proofOf(readPlan(plan))?.words ?? []);
  const standing = new Set<string>();
  for (
    let asked = [...new Set([ORDER_WORDS, ...open, excessWords(1)])], depth = 1;
    asked.length > 0;
    depth++
  ) {
    const { markers } = await ledger.markers(
      deposit.id,
      asked.map((words) => keys.seed(deposit, words)),
    );
    const next: string[] = [];
    for (const [index, words] of asked.entries()) {
      const marker = markers[index];
      if (typeof marker !== "object") continue;
      standing.add(words);
      const { delegate } = marker;
      const plan =
        delegate === null
          ? null
          : await plannedElsewhere(reading, { ...order, view: order, words, delegate });
      next.push(...(plan?.leaves ?? []).map((leaf) => leaf.words));
      if (words === excessWords(depth)) next.push(excessWords(depth + 1));
    }
    asked = next.filter((words) => !standing.has(words));
  }
  return [...standing];
}
