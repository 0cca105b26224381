/** Topics of subscriptions, by the subscribing method. */
import { readCommitment, type RpcCall, withContext } from "./call.ts";
import type { Topic } from "./feed.ts";

/** A jump over more slots than this is notified by its end only: clients do not wait for the ones in between. */
const MAX_SLOTS_AT_ONCE = 512;

function signatureTopic(call: RpcCall): Topic {
  const signature = call.signature(0);
  return {
    notification: "signatureNotification",
    commitment: readCommitment(call.config(1)["commitment"]),
    tell: ({ chain, slot }) => {
      const landed = chain.log.withSignature(signature);
      if (landed === undefined || landed.slot > slot) return [];
      return [{ result: withContext(slot, { err: landed.err }), isLast: true }];
    },
  };
}

function slotTopic(): Topic {
  return {
    notification: "slotNotification",
    commitment: "processed",
    tell: ({ chain, slot, lastSlot }) =>
      slotsBetween(lastSlot, slot).map((passed) => ({
        result: { parent: passed - 1, root: chain.slotAt("finalized", passed), slot: passed },
      })),
  };
}

/** The slots after `last` up to `slot`. */
function slotsBetween(last: number, slot: number): number[] {
  const count = Math.min(slot - last, MAX_SLOTS_AT_ONCE);
  return Array.from({ length: count }, (_, index) => slot - count + 1 + index);
}

/**
 * The topics by their name: `slotSubscribe` begins and `slotUnsubscribe` ends a subscription to `slot`. Clients of
 * web3.js and kit confirm transactions by these two; a change of an account is read over HTTP.
 */
export const TOPICS: Readonly<Record<string, (call: RpcCall) => Topic>> = {
  signature: signatureTopic,
  slot: slotTopic,
};
