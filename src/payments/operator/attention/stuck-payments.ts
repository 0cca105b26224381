/** Finds payments whose attempts reach the chain's endpoints and do not land. */
import type { PaymentStorage } from "../../payment-storage.ts";
import { readPlan } from "../../outgoing/plans/stored-plan.ts";
import { matterId, type AttentionSource } from "./matter.ts";

/** Payments of which three attempts or more have passed, and that are still tried. */
export function stuckPayments(
  storage: Pick<PaymentStorage, "stuckPayments" | "transaction">,
): AttentionSource {
  return async (limit) =>
    Promise.all(
      (await storage.stuckPayments(limit)).map(async ({ id, transactionId, stuckSince, plan }) => {
        const view = await storage.transaction(transactionId);
        const { passed = 0 } = readPlan(plan).bids ?? {};
        return {
          kind: "stuck_payment",
          id: matterId("stuck_payment", id),
          transactionId,
          ...(view === null ? {} : { accountId: view.transaction.accountId }),
          since: stuckSince,
          message:
            `${passed} attempts of payment ${id} were taken by endpoints and did not land: raise fees.ceiling of the ` +
            "ledger and privateRouting.maxRaisedBidsPerDay for new orders, or find the endpoint that passes nothing on",
          actions: [],
        } as const;
      }),
    );
}
