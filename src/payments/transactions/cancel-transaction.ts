/** Cancelling: the machine alone decides whether it is too late, in the commit that a broadcast or a deposit races for. */
import { z } from "zod";
import type { Immutable } from "../../core/immutable.ts";
import { named, text, time } from "../frame/body-schemas.ts";
import type { PaymentTables } from "../frame/tables.ts";
import type { TransactionRecord } from "../frame/tables/orders.ts";
import type { OrderReason } from "../../../machines/order-context.ts";
import type { Engine, SendResult } from "../../engine/index.ts";
import type { PaymentWrite } from "../frame/payment-storage.ts";
import { PaymentError, routingOff } from "../../errors/errors.ts";
import type { Caller } from "../frame/accounts/caller.ts";
import { returnedVolumes } from "../frame/intake/amounts.ts";
import type { OrderLook } from "../private/look.ts";
import type { OrderWorkflow, RecordEnd } from "../private/order-workflow.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import type { WalletTransferWorkflow } from "../wallet/wallet-transfer-workflow.ts";
import { isoTime } from "../frame/iso-time.ts";

export const cancelledTransaction = named(
  "CancelledTransaction",
  z.object({
    transactionId: text("The transaction's id."),
    status: z.literal("cancelled"),
    cancelledAt: time("When it was cancelled."),
  }),
);

/** The answer to DELETE /v1/transactions/{id}. @interface */
export type CancelledTransactionBody = Immutable<z.output<typeof cancelledTransaction>>;

interface CancelParts extends Pick<ServiceContext, "storage"> {
  readonly engine: Engine<PaymentTables>;
  readonly transfers: WalletTransferWorkflow;
  /** Null while private mode is off. */
  readonly orders: OrderWorkflow | null;
  readonly recordEnd: RecordEnd;
  /** The order at processed: a deposit on its way is already too much to cancel. Throws `LedgerUnavailable`. */
  readonly look: (id: string) => Promise<OrderLook>;
}

/**
 * Cancels a transaction whose broadcast has not begun, or whose deposit has not been sent; the chain is asked for that
 * at this very moment, and when it cannot be asked nothing changes. Throws `TRANSACTION_NOT_FOUND`, `UNAUTHORIZED` for
 * another account's, `ALREADY_PROCESSED` while it is pending but on its way, `CANNOT_CANCEL` in every later status.
 */
export async function cancelTransaction(
  deps: CancelParts,
  caller: Caller,
  transactionId: string,
): Promise<CancelledTransactionBody> {
  const { storage } = deps;
  const found = await storage.transaction(transactionId);
  if (found === null) throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
  if (found.transaction.accountId !== caller.accountId) {
    throw new PaymentError("UNAUTHORIZED", { transactionId });
  }

  const sent = await sendCancel(deps, found.transaction);
  const { status, cancelledAt, signature } =
    (await storage.transaction(transactionId))?.transaction ?? found.transaction;
  if (sent.kind === "stepped" && cancelledAt !== null) {
    return { transactionId, status: "cancelled", cancelledAt: isoTime(cancelledAt) };
  }
  if (status === "pending") {
    throw new PaymentError("ALREADY_PROCESSED", {
      transactionId,
      currentStatus: status,
      reason: found.transaction.mode === "private" ? "deposit_detected" : "broadcast",
      ...(signature === null ? {} : { signature }),
    });
  }
  throw new PaymentError("CANNOT_CANCEL", {
    transactionId,
    currentStatus: status,
    allowedStatuses: ["pending"],
  });
}

async function sendCancel(deps: CancelParts, { id, mode, status }: TransactionRecord): Promise<SendResult> {
  const { storage, engine, transfers, orders } = deps;
  // The caller may still send bytes of wallet mode: they keep their share of the day.
  if (mode === "wallet") return engine.send(transfers, id, { type: "CANCEL" });
  if (orders === null) throw routingOff();
  // A state that hears no CANCEL says so by itself.
  if (status !== "pending") return engine.send(orders, id, { type: "CANCEL" });
  return cancelOrder({ ...deps, orders }, id, await returnedVolumes(storage, id));
}

/**
 * Two commits: the first closes the order, so that nothing else counts from then on; the second tells its end, once that is
 * written where a lost database does not reach it. A process that dies between them is followed by the order's own effect,
 * and by the next request, which tells that end, too.
 */
async function cancelOrder(
  { storage, engine, orders, look, recordEnd }: CancelParts & { readonly orders: OrderWorkflow },
  id: string,
  returned: readonly PaymentWrite[],
): Promise<SendResult> {
  const { facts, view } = await look(id);
  const unchanged = { table: "orders" as const, id, expectVersion: view.order.version };
  const closed = facts.isUntouched
    ? await engine.send(orders, id, { type: "CANCEL" }, { writes: [unchanged, ...returned] })
    : ({ kind: "unchanged" } as SendResult);
  const ends = (await storage.order(id))?.ends ?? null;
  if (ends === null) return closed;
  const { status, reason } = await recordEnd(id, ends);
  // Whoever tells it first, this or the order's own effect, the other one changes nothing.
  await engine.send(orders, id, { type: "LINE_STANDS", status, reason: reason as OrderReason | null });
  return closed;
}
