/** Cancelling: the machine alone decides whether it is too late, in the commit that a broadcast or a deposit races for. */
import { z } from "zod";
import type { Immutable } from "../../immutable.ts";
import { named, text, time } from "../body-schemas.ts";
import type { PaymentTables } from "../tables.ts";
import type { TransactionRecord } from "../tables/orders.ts";
import type { Engine } from "../../engine/index.ts";
import { PaymentError, routingOff } from "../../errors.ts";
import type { Caller } from "../accounts/caller.ts";
import type { PrivateTransferWorkflow } from "../private/private-transfer-workflow.ts";
import type { ServiceContext } from "../service-context.ts";
import type { WalletTransferWorkflow } from "../wallet/wallet-transfer-workflow.ts";
import { isoTime } from "../iso-time.ts";

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
  readonly orders: PrivateTransferWorkflow | null;
  /** Whether the chain shows a deposit, at any commitment. */
  readonly hasDeposit: (transaction: TransactionRecord) => Promise<boolean>;
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

async function sendCancel(
  { engine, transfers, orders, hasDeposit }: CancelParts,
  transaction: TransactionRecord,
): ReturnType<typeof engine.send> {
  const { id, mode, status } = transaction;
  if (mode === "wallet") return engine.send(transfers, id, { type: "CANCEL" });
  if (orders === null) throw routingOff();
  // The watcher looks at final blocks only; money that is on its way is already too much to cancel.
  if (status === "pending" && (await hasDeposit(transaction))) {
    await engine.send(orders, id, { type: "DEPOSIT_SEEN" });
  }
  return engine.send(orders, id, { type: "CANCEL" });
}
