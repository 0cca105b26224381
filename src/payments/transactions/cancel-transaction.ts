/** Cancelling: the machine alone decides whether it is too late, in the commit that a broadcast or a deposit races for. */
import type { PaymentTables, TransactionRecord } from "../records.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Engine, Workflow } from "../../engine/index.ts";
import { PaymentError } from "../../errors.ts";
import type { privateTransfer, walletTransfer } from "../../../machines/index.ts";
import type { Clock, Random } from "../../runtime.ts";
import type { RequestOptions } from "../accounts/answer-once.ts";
import type { Caller } from "../accounts/caller.ts";
import { countHit } from "../accounts/count-hit.ts";
import { isoTime } from "../iso-time.ts";

/** The answer to DELETE /v1/transactions/{id}. */
export interface CancelledTransactionBody {
  readonly transactionId: string;
  readonly status: "cancelled";
  readonly cancelledAt: string;
}

/**
 * Cancels a transaction whose broadcast has not begun, or whose deposit has not been sent; the chain is asked for that
 * at this very moment, and when it cannot be asked nothing changes. Every call counts against the limit of cancellations. Throws `TRANSACTION_NOT_FOUND`, `UNAUTHORIZED` for another
 * account's, `ALREADY_PROCESSED` while it is pending but on its way, `CANNOT_CANCEL` in every later status.
 */
export async function cancelTransaction(
  deps: {
    readonly storage: PaymentStorage;
    readonly clock: Clock;
    readonly random: Random;
    readonly engine: Engine<PaymentTables>;
    readonly transfers: Workflow<typeof walletTransfer, PaymentTables>;
    /** Null while private mode is off. */
    readonly orders: Workflow<typeof privateTransfer, PaymentTables> | null;
    /** Whether the chain shows a deposit, at any commitment. */
    readonly hasDeposit: (transaction: TransactionRecord) => Promise<boolean>;
  },
  caller: Caller,
  transactionId: string,
  { onLimit }: Pick<RequestOptions, "onLimit"> = {},
): Promise<CancelledTransactionBody> {
  const { storage } = deps;
  const { standing } = await countHit(deps, caller, "cancel");
  onLimit?.(standing);
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
  { engine, transfers, orders, hasDeposit }: Parameters<typeof cancelTransaction>[0],
  transaction: TransactionRecord,
): ReturnType<typeof engine.send> {
  const { id, mode, status } = transaction;
  if (mode === "wallet") return engine.send(transfers, id, { type: "CANCEL" });
  if (orders === null) throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "paused", retryAfter: 60 });
  // The watcher looks at final blocks only; money that is on its way is already too much to cancel.
  if (status === "pending" && (await hasDeposit(transaction))) {
    await engine.send(orders, id, { type: "DEPOSIT_SEEN" });
  }
  return engine.send(orders, id, { type: "CANCEL" });
}
