/** Starting the payments that a plan names, once the plan is on the chain. */
import type { PaymentEvent } from "../../../machines/index.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { PaymentTables } from "../tables.ts";
import type { EffectOutcome } from "../../engine/index.ts";
import type { Assets } from "../assets/assets.ts";
import type { StartPayment } from "./planned-payment.ts";
import { payoutPlan, type PaidRecipient } from "./plans/plan-payouts.ts";
import { depositAddressOf, termsOf, type RoutingContext, type SponsorParts } from "./plans/routing-terms.ts";
import { proofOf, type LeafPayment, type StoredPlan } from "./plans/stored-plan.ts";

/** Starts all payments of a plan in one commit, with the count for the order; a second time they are there already. */
export type LeafPaymentHandler = (
  view: TransactionView,
  plan: StoredPlan,
) => Promise<EffectOutcome<PaymentEvent, PaymentTables>>;

interface LeafPaymentParts extends SponsorParts {
  readonly assets: Assets;
  readonly startPayment: StartPayment;
}

export function leafStarter(surroundings: LeafPaymentParts): LeafPaymentHandler {
  const { assets, startPayment } = surroundings;
  return async (view, plan) => {
    const { id: transactionId, mint } = view.transaction;
    const { leaves = [], leftOut = [] } = plan;
    const follows = proofOf(plan)?.planWords ?? null;
    const asset = assets.named(mint);
    const terms = await termsOf(surroundings, depositAddressOf(view.transaction));
    const present = new Set(view.payments.map(({ mark }) => mark));
    const started = leaves
      .filter(({ words }) => !present.has(words))
      .map((leaf) => {
        const { words } = leaf;
        const payees = payeesOfLeaf(view, leaf, terms);
        return startPayment({
          transactionId,
          address: terms.address,
          kind: "payout",
          mark: words,
          mint,
          role: "payout",
          legs: payees.map(({ address, amount }) => ({ address, amount })),
          plan: payoutPlan(terms, { asset, payees }, { words, follows }),
        });
      });
    return {
      event: { type: "LEAVES_STARTED", payouts: leaves.length, unpaid: leftOut.length },
      starts: started.map(({ start }) => start),
      writes: started.map(({ write }) => write),
    };
  };
}

function payeesOfLeaf(
  { recipients }: TransactionView,
  { indexes, sponsored }: LeafPayment,
  { address: own, sponsor }: RoutingContext,
): readonly PaidRecipient[] {
  return recipients
    .filter(({ index }) => indexes.includes(index))
    .map(({ index, address, amount }) => ({
      index,
      address,
      amount,
      accountPayer: sponsored.includes(index) ? sponsor : own,
    }));
}
