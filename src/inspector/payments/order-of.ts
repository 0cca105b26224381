/** The transaction that an instance belongs to: itself, or a module's. */
import type { TransactionView } from "../../payments/frame/tables/orders.ts";
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import type { RelatedId } from "../find-related.ts";
import { allShown, firstShown } from "./module-views.ts";

/** Null where the instance is none of the payment service's. */
export async function orderOf(payments: InspectedPaymentParts, id: string): Promise<TransactionView | null> {
  const { reads } = payments;
  const own = await reads.transaction(id);
  if (own !== null) return own;
  const transactionId = await firstShown((module) => module.transactionOf(payments, id));
  return transactionId === null ? null : reads.transaction(transactionId);
}

/** Instances of an order: the order, and those of modules. */
export async function relationsOfOrder(
  payments: InspectedPaymentParts,
  { transaction }: TransactionView,
): Promise<RelatedId[]> {
  const own = await allShown((module) => module.relations(payments, transaction.id));
  return [[transaction.id, "order"], ...own];
}
