/** An order as a tree of what modules show of it. */
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import type { TransactionView } from "../../payments/frame/tables/orders.ts";
import { allShown } from "./module-views.ts";
import { branch, type OrderPart } from "./order-part.ts";

export async function readOrderTree(
  payments: InspectedPaymentParts,
  { transaction }: TransactionView,
): Promise<OrderPart> {
  const { id, status, type, mode, signature } = transaction;
  const below = await allShown((module) => module.branches(payments, id));
  const note = signature === null ? null : `signature ${signature}`;
  return branch({ is: `${type}, ${mode} mode`, id, state: status, note, below });
}
