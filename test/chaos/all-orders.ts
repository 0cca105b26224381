/** All orders of private mode of a run. */
// modules: private
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { storedOrderIn, type StoredOrder } from "../../src/payments/private/look.ts";

const PAGE = 50;

export async function allOrders(storage: PaymentStorage): Promise<readonly StoredOrder[]> {
  const found: StoredOrder[] = [];
  for (let after = ""; ;) {
    const page = await storage.ordersAfter(after, PAGE);
    const views = await storage.orderedTransactions(page.map(({ id }) => id));
    found.push(...views.flatMap((view) => storedOrderIn(view) ?? []));
    const last = page.at(-1);
    if (last === undefined) return found;
    after = last.id;
  }
}
