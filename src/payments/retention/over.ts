/** Tells by its status whether a transaction is over, and never changes again. */
import type { TransactionStatus } from "../tables/orders.ts";
import type { PaymentStorage } from "../payment-storage.ts";

const OVER: ReadonlySet<TransactionStatus> = new Set(["completed", "failed", "cancelled"]);

/** True for one that is gone, too. */
export async function isOver(storage: Pick<PaymentStorage, "transaction">, id: string): Promise<boolean> {
  const view = await storage.transaction(id);
  return view === null || OVER.has(view.transaction.status);
}
