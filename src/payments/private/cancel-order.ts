/** Cancelling an order: until a deposit is on its way. */
import type { ModuleEngine } from "../frame/module-engine.ts";
import type { OrderReason } from "../../../machines/order-context.ts";
import type { SendResult } from "../../engine/index.ts";
import { returnedVolumes } from "../frame/intake/amounts.ts";
import type { PrivateContext, PrivateWrite, PrivateTables } from "./private-storage.ts";
import type { TransactionRecord } from "../frame/tables/orders.ts";
import type { OrderLook } from "./look.ts";
import type { OrderWorkflow, RecordEnd } from "./order-workflow.ts";

interface CancelOrderDeps extends Pick<PrivateContext, "storage"> {
  readonly engine: ModuleEngine<PrivateTables>;
  readonly orders: OrderWorkflow;
  readonly recordEnd: RecordEnd;
  /** The order at processed: a deposit on its way is already too much to cancel. Throws `LedgerUnavailable`. */
  readonly look: (id: string) => Promise<OrderLook>;
}

export async function cancelOrder(
  deps: CancelOrderDeps,
  { id, status }: Pick<TransactionRecord, "id" | "status">,
): Promise<SendResult> {
  // A state that hears no CANCEL says so by itself.
  if (status !== "pending") return deps.engine.send(deps.orders, id, { type: "CANCEL" });
  return closeOrder(deps, id, await returnedVolumes(deps.storage, id));
}

/**
 * Two commits: the first closes the order, so that nothing else counts from then on; the second tells its end, once that is
 * written where a lost database does not reach it. A process that dies between them is followed by the order's own effect,
 * and by the next request, which tells that end, too.
 */
async function closeOrder(
  { storage, engine, orders, look, recordEnd }: CancelOrderDeps,
  id: string,
  returned: readonly PrivateWrite[],
): Promise<SendResult> {
  const { facts, view } = await look(id);
  const unchanged = { table: "orders" as const, id, expectVersion: view.order.version };
  const closed = facts.isUntouched
    ? await engine.send(orders, id, { type: "CANCEL" }, { writes: [unchanged, ...returned] })
    : ({ kind: "unchanged" } as SendResult);
  const ends = (await storage.order(id))?.ends ?? null;
  if (ends === null) return closed;
  const { status, reason } = await recordEnd(id, ends);
  // If the order's own effect tells the end first, this changes nothing, and the other way round.
  await engine.send(orders, id, { type: "LINE_STANDS", status, reason: reason as OrderReason | null });
  return closed;
}
