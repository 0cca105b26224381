/** Finds the wallet transactions that may have landed, as no evidence tells. */
import { watchesOf } from "../../workflow/watch-rows.ts";
import { matterId, type AttentionSource, type FoundMatter } from "../frame/acts/matter.ts";
import { attentionMessages } from "../frame/attention.ts";
import type { FrameStorage } from "../frame/frame-storage.ts";

/**
 * Unprovable transactions, which are watched until a node with the history of that time tells, or an operator settles
 * them.
 */
export function unprovableTransactions(storage: Pick<FrameStorage, "find" | "transaction">): AttentionSource {
  return async (limit) => {
    const watches = await watchesOf(storage, "unprovable");
    return Promise.all(
      watches.slice(0, limit).map(async ({ instance: transactionId }): Promise<FoundMatter> => {
        const accountId = (await storage.transaction(transactionId))?.transaction.accountId;
        return {
          kind: "unprovable",
          id: matterId("unprovable", transactionId),
          transactionId,
          since: null,
          ...(accountId === undefined ? {} : { accountId }),
          message: attentionMessages.unprovable,
          actions: ["settle", "writeOff"],
        };
      }),
    );
  };
}
