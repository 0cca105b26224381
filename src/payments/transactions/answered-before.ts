/** Recognises a repeated request without an Idempotency-Key: its quote names the transaction. */
import type { QuoteRecord } from "../tables/orders.ts";
import { PaymentError } from "../../errors.ts";
import { isSameTransaction } from "../../ledger/wire-format.ts";
import type { Answer } from "../accounts/answer-once.ts";
import { createdOrderBody, type CreatedOrderBody } from "../private/accept-order.ts";
import type { CheckedRequest } from "../quotes/checked-request.ts";
import type { ServiceContext } from "../service-context.ts";
import { createdTransferBody, type CreatedTransferBody } from "../wallet/accept-signed.ts";

/** The fields that identify a request under a quote. */
interface RepeatedRequest extends Pick<CheckedRequest, "requestHash" | "signedTransaction"> {
  readonly accountId: string;
}

/**
 * The answer that this request already got, in case the client has lost the answer; null for a new request. Throws
 * `DUPLICATE_TRANSACTION` for the same signed bytes in a different request.
 */
export async function answeredBefore(
  { storage, assets }: Pick<ServiceContext, "storage" | "assets">,
  quote: QuoteRecord | null,
  { accountId, requestHash, signedTransaction }: RepeatedRequest,
): Promise<Answer<CreatedTransferBody | CreatedOrderBody> | null> {
  if (quote === null || quote.usedBy === null || quote.accountId !== accountId) return null;
  const view = await storage.transaction(quote.usedBy);
  if (view === null) return null;
  const { transaction } = view;
  if (transaction.requestHash === requestHash) {
    // The original answer, not the present state of the transaction: the same request gets the same answer.
    const [deposit] = await storage.deposits([transaction.depositAddress ?? ""]);
    const body =
      deposit === undefined
        ? createdTransferBody(transaction)
        : createdOrderBody(transaction, deposit, assets);
    return { body, text: JSON.stringify(body), replayed: true };
  }
  const [attempt] = await storage.attempts([transaction.signature ?? ""]);
  const given = Buffer.from(signedTransaction, "base64");
  if (attempt !== undefined && isSameTransaction(attempt.bytes, given)) {
    throw new PaymentError("DUPLICATE_TRANSACTION", { transactionId: transaction.id });
  }
  return null;
}
