/** The transaction that an instance belongs to: itself, a transfer of its order, or a delivery. */
import type { PaymentReads, InspectedPaymentParts } from "../../payments/payment-storage.ts";
import type { OrderedTransaction } from "../../payments/private/tables.ts";
import type { RelatedId } from "../find-related.ts";

/** Null where the instance is none of the payment service's. */
export async function orderOf(
  { reads }: InspectedPaymentParts,
  id: string,
): Promise<OrderedTransaction | null> {
  const own = await reads.orderedTransaction(id);
  if (own !== null) return own;
  const transactionId = await transactionIdOf(reads, id);
  return transactionId === null ? null : reads.orderedTransaction(transactionId);
}

async function transactionIdOf(reads: PaymentReads, id: string): Promise<string | null> {
  const [transfer, delivery] = await Promise.all([reads.transfer(id), reads.delivery(id)]);
  return transfer?.order ?? delivery?.transactionId ?? null;
}

/** Instances of an order: the order, its transfers, and the deliveries of its notices. */
export async function relationsOfOrder(
  { reads }: InspectedPaymentParts,
  { transaction, order }: OrderedTransaction,
): Promise<RelatedId[]> {
  const deliveries = await reads.deliveries(transaction.id);
  return [
    [transaction.id, "order"],
    ...(order?.transfers ?? []).map(({ id, kind, n }) => [id, `transfer: ${kind} ${n}`] as const),
    ...deliveries.map(({ id }) => [id, "delivery"] as const),
  ];
}
