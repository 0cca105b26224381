/** Orders that an operator has declined: their money goes elsewhere, and no payment to a recipient is begun any more. */
import type { PaymentStorage } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { OrderRouting, RoutingOutcome } from "./order-routing.ts";
import { isRecovery } from "./plans/plan-settlement.ts";
import { depositAddressOf } from "./plans/routing-terms.ts";
import { readPlan } from "./plans/stored-plan.ts";

/** Payments that pay recipients, or name those that do. */
const TO_RECIPIENTS: ReadonlySet<PaymentRecord["kind"]> = new Set(["payout", "plan", "swap"]);

/** Whether it pays recipients or plans that. A recovery pays nobody: it asks a marker what was paid under it. */
export function isToRecipients({ kind, mark }: Pick<PaymentRecord, "kind" | "mark">): boolean {
  return TO_RECIPIENTS.has(kind) && !isRecovery({ mark });
}

/** Whether a payment to a recipient was signed: then its bytes may land, and the order is not declined. */
export function hasSignedForRecipients(payments: readonly PaymentRecord[]): boolean {
  return payments.some((payment) => payment.signature !== null && isToRecipients(payment));
}

/**
 * Whether a payment to a recipient has not ended yet. Of a declined order each ends by itself, and the next payment waits
 * for it: two that conclude at once what was paid under one marker would tell it twice.
 */
export function hasOpenForRecipients(payments: readonly PaymentRecord[]): boolean {
  return payments.some(
    (payment) => payment.status !== "failed" && payment.status !== "finalized" && isToRecipients(payment),
  );
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
  payment: Pick<PaymentRecord, "kind" | "mark" | "address">,
): Promise<boolean> {
  return isToRecipients(payment) && (await isDeclined(storage, payment.address));
}

/** Tells whether another copy of the database has paid the recipients of an order. */
interface PaidByOthers {
  hasPaidRecipients(deposit: DepositRecord, view: TransactionView): Promise<boolean>;
}

/**
 * The same routing, which plans no payment to a recipient of an order that was declined meanwhile, unless another copy of
 * the database has paid the recipients: what is planned for them then meets the marker, and the order is told as paid.
 */
export function declinableRouting(
  storage: PaymentStorage,
  routing: OrderRouting,
  elsewhere: PaidByOthers,
): OrderRouting {
  const declined = async (transactionId: string): Promise<TransactionView | null> => {
    const view = await storage.transaction(transactionId);
    return view !== null && (await isDeclined(storage, depositAddressOf(view.transaction))) ? view : null;
  };
  const isPaid = async (view: TransactionView): Promise<boolean> => {
    const [deposit] = await storage.deposits([depositAddressOf(view.transaction)]);
    return deposit !== undefined && (await elsewhere.hasPaidRecipients(deposit, view));
  };
  const givenUp = (unpaid: number): RoutingOutcome => ({ event: { type: "ROUTED", payouts: 0, unpaid } });
  return {
    async route(transactionId) {
      const view = await declined(transactionId);
      if (view === null || (await isPaid(view))) return routing.route(transactionId);
      return givenUp(view.recipients.length);
    },
    async reroute(transactionId, payment, fault) {
      const view = await declined(transactionId);
      const row = view?.payments.find(({ id }) => id === payment);
      // Where another copy has planned it anew, that plan tells who was paid; none of it is signed here.
      const mayBePlanned = fault?.kind === "superseded";
      if (row === undefined || mayBePlanned) return routing.reroute(transactionId, payment, fault);
      return givenUp(readPlan(row.plan).indexes.length);
    },
  };
}
