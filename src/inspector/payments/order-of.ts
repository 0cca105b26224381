/** The transaction that an instance belongs to: itself, a module's, or a delivery's. */
import type { TransactionView } from "../../payments/frame/tables/orders.ts";
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import type { RelatedId } from "../find-related.ts";
import { allShown, firstShown } from "./module-views.ts";

/** Null where the instance is none of the payment service's. */
export async function orderOf(payments: InspectedPaymentParts, id: string): Promise<TransactionView | null> {
  const { reads } = payments;
  const own = await reads.transaction(id);
  if (own !== null) return own;
  const transactionId = await transactionIdOf(payments, id);
  return transactionId === null ? null : reads.transaction(transactionId);
}

async function transactionIdOf(payments: InspectedPaymentParts, id: string): Promise<string | null> {
  const [ofModule, delivery] = await Promise.all([
    firstShown((module) => module.transactionOf(payments, id)),
    payments.reads.delivery(id),
  ]);
  return ofModule ?? delivery?.transactionId ?? null;
}

/** Instances of an order: the order, those of its module, and the deliveries of its notices. */
export async function relationsOfOrder(
  payments: InspectedPaymentParts,
  { transaction }: TransactionView,
): Promise<RelatedId[]> {
  const [own, deliveries] = await Promise.all([
    allShown((module) => module.relations(payments, transaction.id)),
    payments.reads.deliveries(transaction.id),
  ]);
  return [[transaction.id, "order"], ...own, ...deliveries.map(({ id }) => [id, "delivery"] as const)];
}
