/** Cancelling: the machine alone decides whether it is too late, in the commit that a broadcast races for. */
import type { PaymentStorage, PaymentTables } from "../../storage/storage.ts";
import type { Engine, Workflow } from "../engine/index.ts";
import { PaymentError } from "../errors.ts";
import type { walletTransfer } from "../../machines/wallet-transfer.ts";
import type { Clock, Random } from "../runtime.ts";
import type { RequestOptions } from "./answer-once.ts";
import type { Caller } from "./caller.ts";
import { CANCEL_LIMIT, countHit } from "./count-hit.ts";
import { isoTime } from "./iso-time.ts";

/** The answer to DELETE /v1/transactions/{id} (SPEC). */
export interface CancelledTransactionBody {
  readonly transactionId: string;
  readonly status: "cancelled";
  readonly cancelledAt: string;
}

/**
 * Cancels a transaction whose broadcast has not begun. Every call counts against SPEC's limit. Throws `TRANSACTION_NOT_FOUND`, `UNAUTHORIZED` for another
 * account's, `ALREADY_PROCESSED` while it is pending but on its way, `CANNOT_CANCEL` in every later status.
 */
export async function cancelTransaction(
  deps: {
    readonly storage: PaymentStorage;
    readonly clock: Clock;
    readonly random: Random;
    readonly engine: Engine<PaymentTables>;
    readonly workflow: Workflow<typeof walletTransfer, PaymentTables>;
  },
  caller: Caller,
  transactionId: string,
  { onLimit }: Pick<RequestOptions, "onLimit"> = {},
): Promise<CancelledTransactionBody> {
  const { storage, engine, workflow } = deps;
  const standing = await countHit(deps, caller, CANCEL_LIMIT);
  onLimit?.(standing);
  const found = await storage.transaction(transactionId);
  if (found === null) throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
  if (found.transaction.accountId !== caller.accountId) {
    throw new PaymentError("UNAUTHORIZED", { transactionId });
  }

  const sent = await engine.send(workflow, transactionId, { type: "CANCEL" });
  const { status, cancelledAt, signature } =
    (await storage.transaction(transactionId))?.transaction ?? found.transaction;
  if (sent.kind === "stepped" && cancelledAt !== null) {
    return { transactionId, status: "cancelled", cancelledAt: isoTime(cancelledAt) };
  }
  if (status === "pending") {
    throw new PaymentError("ALREADY_PROCESSED", {
      transactionId,
      currentStatus: status,
      reason: "broadcast",
      ...(signature === null ? {} : { signature }),
    });
  }
  throw new PaymentError("CANNOT_CANCEL", {
    transactionId,
    currentStatus: status,
    allowedStatuses: ["pending"],
  });
}
