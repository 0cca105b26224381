/** Orders that an operator has declined: their money goes elsewhere, and no payment to a recipient is begun any more. */
import type { PaymentStorage } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { OrderRouting, RoutingOutcome } from "./planned-payment.ts";
import { isRecovery } from "./plans/plan-settlement.ts";
import { depositAddressOf } from "./plans/routing-terms.ts";
import { readPlan } from "./plans/stored-plan.ts";

/** Kinds of payments that pay recipients, or lead to payments that do. */
const TO_RECIPIENTS: ReadonlySet<PaymentRecord["kind"]> = new Set(["payout", "plan", "swap"]);

/**
 * Whether a payment pays recipients or plans to pay them. A recovery pays nobody: it only finds out what was paid under
 * a marker.
 */
export function isToRecipients({ kind, mark }: Pick<PaymentRecord, "kind" | "mark">): boolean {
  return TO_RECIPIENTS.has(kind) && !isRecovery({ mark });
}

/** Whether a payment to a recipient was signed: if so, its bytes may land, and the order cannot be declined. */
export function hasSignedForRecipients(payments: readonly PaymentRecord[]): boolean {
  return payments.some((payment) => payment.signature !== null && isToRecipients(payment));
}

/**
 * Whether a payment to a recipient has not ended yet. The payments of a declined order end by themselves, and the next
 * payment waits for them: two payments that read the same marker at once would report its payment twice.
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

/** Whether a payment goes to recipients whom an operator has declined to pay. */
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
 * Routing that plans no payment to recipients of an order declined meanwhile, unless another copy of the database has
 * paid the recipients: the planned payment then meets the marker, and the order counts as paid.
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
      // If another copy has replaced the payment by a plan, that plan tells who was paid; nothing of the plan is signed
      // here.
      const mayBePlanned = fault?.kind === "superseded";
      if (row === undefined || mayBePlanned) return routing.reroute(transactionId, payment, fault);
      return givenUp(readPlan(row.plan).indexes.length);
    },
  };
}
