/** Transactions of private mode, also while it is off: shown by their orders, and cancelled until a deposit is on its way. */
import type { ModuleEngine } from "../frame/module-engine.ts";
import { routingOff } from "../../errors/errors.ts";
import type { PrivateContext, PrivateTables } from "./private-storage.ts";
import type { TransactionMode } from "../frame/transactions/transaction-mode.ts";
import { createdOrderBody, type CreatedOrderBody } from "./accept-order.ts";
import { cancelOrder } from "./cancel-order.ts";
import { lookAtOrder } from "./look.ts";
import { orderDetails } from "./order-details.ts";
import type { OrderWorkflow, RecordEnd } from "./order-workflow.ts";

interface OrderModeDeps extends PrivateContext {
  readonly engine: () => ModuleEngine<PrivateTables>;
  /** Null while private mode is off. */
  readonly orders: OrderWorkflow | null;
  readonly recordEnd: RecordEnd;
}

export function orderMode(deps: OrderModeDeps): TransactionMode<CreatedOrderBody> {
  const { storage, assets, engine, orders, recordEnd } = deps;
  const look = (id: string) => lookAtOrder(deps, id, { commitment: "processed" });
  return {
    mode: "private",
    details: (ids) => orderDetails({ storage, assets }, ids),
    async createdBody(transaction) {
      const order = await storage.order(transaction.id);
      return order === null ? null : createdOrderBody(transaction, order, assets);
    },
    async cancel(transaction) {
      if (orders === null) throw routingOff();
      return cancelOrder({ storage, engine: engine(), orders, recordEnd, look }, transaction);
    },
  };
}
