/** Shows a transaction, at once or as soon as its status changes. */
import { isFinalStatus, type StatusWaitList } from "./await-status.ts";
import type { Caller } from "../accounts/caller.ts";
import {
  ownTransaction,
  transactionBody,
  type TransactionBody,
  type TransactionParts,
} from "./read-transaction.ts";
import { parseRequest, transactionQuery, type TransactionQuery } from "../requests.ts";

/** See `PaymentService.transaction`. */
type ShowTransaction = (
  caller: Caller,
  transactionId: string,
  options?: TransactionQuery & { readonly signal?: AbortSignal },
) => Promise<TransactionBody>;

export function showTransaction(
  deps: TransactionParts & { readonly waiters: StatusWaitList },
): ShowTransaction {
  const { storage, waiters } = deps;
  return async (caller, transactionId, { signal, ...query } = {}) => {
    const { wait } = parseRequest(transactionQuery, query);
    const view = await ownTransaction(storage, caller, transactionId);
    const { status } = view.transaction;
    if (wait === 0 || isFinalStatus(status)) return transactionBody(deps, view);
    const awaited = { transactionId, status, forMs: wait * 1_000 };
    await waiters.changed(signal === undefined ? awaited : { ...awaited, signal });
    return transactionBody(deps, await ownTransaction(storage, caller, transactionId));
  };
}
