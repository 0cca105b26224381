/** The transaction that an instance belongs to: itself, its deposit address, a payment of it, or a delivery. */
import type { PaymentReads } from "../../payments/payment-storage.ts";
import type { TransactionView } from "../../payments/tables/orders.ts";
import type { InspectedPaymentParts } from "../../payments/service-context.ts";
import type { RelatedId } from "../find-related.ts";

/** Null where the instance is none of the payment service's. */
export async function orderOf({ reads }: InspectedPaymentParts, id: string): Promise<TransactionView | null> {
  const own = await reads.transaction(id);
  if (own !== null) return own;
  const transactionId = await transactionIdOf(reads, id);
  return transactionId === null ? null : reads.transaction(transactionId);
}

async function transactionIdOf(reads: PaymentReads, id: string): Promise<string | null> {
  const [payment, [deposit], delivery] = await Promise.all([
    reads.payment(id),
    reads.deposits([id]),
    reads.delivery(id),
  ]);
  return payment?.transactionId ?? deposit?.transactionId ?? delivery?.transactionId ?? null;
}

/** Instances of an order: the order, its deposit address, its payments, and the deliveries of its notices. */
export async function relationsOfOrder(
  { reads }: InspectedPaymentParts,
  { transaction, payments }: TransactionView,
): Promise<RelatedId[]> {
  const { id, depositAddress } = transaction;
  const deliveries = await reads.deliveries(id);
  return [
    [id, "order"],
    ...(depositAddress === null ? [] : [[depositAddress, "deposit address"] as const]),
    ...payments.map(({ id: payment, kind }) => [payment, `payment: ${kind}`] as const),
    ...deliveries.map(({ id: delivery }) => [delivery, "delivery"] as const),
  ];
}
