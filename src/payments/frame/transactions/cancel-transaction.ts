/** Cancelling: the machine alone decides whether it is too late, in the commit that a broadcast or a deposit races for. */
import { z } from "zod";
import type { Immutable } from "../../../core/immutable.ts";
import { named, text, time } from "../body-schemas.ts";
import { PaymentError } from "../../../errors/errors.ts";
import type { Caller } from "../accounts/caller.ts";
import { isoTime } from "../iso-time.ts";
import type { TransactionParts } from "./read-transaction.ts";
import { modeOf } from "./transaction-mode.ts";

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

/**
 * Cancels a transaction whose broadcast has not begun, or whose deposit has not been sent; the chain is asked for that
 * at this very moment, and when it cannot be asked nothing changes. Throws `TRANSACTION_NOT_FOUND`, `UNAUTHORIZED` for
 * another account's, `ALREADY_PROCESSED` while it is pending but on its way, `CANNOT_CANCEL` in every later status.
 */
export async function cancelTransaction(
  { storage, modes }: Pick<TransactionParts, "storage" | "modes">,
  caller: Caller,
  transactionId: string,
): Promise<CancelledTransactionBody> {
  const found = await storage.transaction(transactionId);
  if (found === null) throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
  if (found.transaction.accountId !== caller.accountId) {
    throw new PaymentError("UNAUTHORIZED", { transactionId });
  }

  const sent = await modeOf(modes, found.transaction).cancel(found.transaction);
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
