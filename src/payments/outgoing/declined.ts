/** Orders that an operator has declined: their money goes elsewhere, and no payment to a recipient is begun any more. */
import type { PaymentStorage, TransactionView } from "../payment-storage.ts";
import type { PaymentRecord } from "../records.ts";
import type { OrderRouting, Routed } from "./order-routing.ts";
import { depositAddressOf } from "./plans/routing-terms.ts";
import { readPlan } from "./plans/stored-plan.ts";

/** Payments that pay recipients, or name those that do. */
const TO_RECIPIENTS: ReadonlySet<PaymentRecord["kind"]> = new Set(["payout", "plan", "swap"]);

/** Whether a payment to a recipient was signed: then its bytes may land, and the order is not declined. */
export function hasSignedForRecipients(payments: readonly PaymentRecord[]): boolean {
  return payments.some(({ kind, signature }) => TO_RECIPIENTS.has(kind) && signature !== null);
}

/**
 * Whether an operator has ever sent the money of this address elsewhere. A later word may take the receiver back, and not
 * that the order was declined by it.
 */
async function isDeclined(storage: Pick<PaymentStorage, "vouchings">, address: string): Promise<boolean> {
  return (await storage.vouchings(address)).some(({ refundTo }) => refundTo !== null);
}

/** Whether a payment is one to recipients whom an operator has declined to pay. */
export async function isDeclinedPayment(
  storage: Pick<PaymentStorage, "vouchings">,
  { kind, address }: Pick<PaymentRecord, "kind" | "address">,
): Promise<boolean> {
  return TO_RECIPIENTS.has(kind) && (await isDeclined(storage, address));
}

/** The same routing, which plans no payment to a recipient of an order that was declined meanwhile. */
export function declinableRouting(storage: PaymentStorage, routing: OrderRouting): OrderRouting {
  const declined = async (transactionId: string): Promise<TransactionView | null> => {
    const view = await storage.transaction(transactionId);
    return view !== null && (await isDeclined(storage, depositAddressOf(view.transaction))) ? view : null;
  };
  const givenUp = (unpaid: number): Routed => ({ event: { type: "ROUTED", payouts: 0, unpaid } });
  return {
    async route(transactionId) {
      const view = await declined(transactionId);
      return view === null ? routing.route(transactionId) : givenUp(view.recipients.length);
    },
    async reroute(transactionId, payment, fault) {
      const view = await declined(transactionId);
      const row = view?.payments.find(({ id }) => id === payment);
      if (row === undefined) return routing.reroute(transactionId, payment, fault);
      return givenUp(readPlan(row.plan).indexes.length);
    },
  };
}
