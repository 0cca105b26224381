/** Finds wallet transactions of which the chain does not show whether they have landed. */
import { ALL_SHARDS } from "../../../engine/shards.ts";
import type { PaymentStorage } from "../../payment-storage.ts";
import { messageOf } from "../../attention.ts";
import { matterId, type AttentionSource, type FoundMatter } from "./matter.ts";

/**
 * Unprovable transactions, which are watched until a node with the history of that time tells, or an operator settles
 * them.
 */
export function unprovableTransactions(
  storage: Pick<PaymentStorage, "watches" | "transaction">,
): AttentionSource {
  return async (limit) => {
    const watches = await storage.watches({ kind: "unprovable", shards: ALL_SHARDS });
    return Promise.all(
      watches.slice(0, limit).map(async ({ instance: transactionId }): Promise<FoundMatter> => {
        const accountId = (await storage.transaction(transactionId))?.transaction.accountId;
        return {
          kind: "unprovable",
          id: matterId("unprovable", transactionId),
          transactionId,
          since: null,
          ...(accountId === undefined ? {} : { accountId }),
          message: messageOf("unprovable"),
          actions: ["settle", "writeOff"],
        };
      }),
    );
  };
}
