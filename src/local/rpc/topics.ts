/** Topics of subscriptions, by the subscribing method. */
import type { AccountKeys } from "../account-keys.ts";
import type { ChainState } from "../chain-state.ts";
import type { NotedTransaction } from "../transaction-history.ts";
import { encodeAccountForNews } from "./account-data.ts";
import { readFilters } from "./account-methods.ts";
import { readAddress, readCommitment, type RpcCall, withContext } from "./call.ts";
import { invalidParams } from "./errors.ts";
import type { Topic } from "./feed.ts";

/** A jump over more slots than this is notified by its end only: clients do not wait for the ones in between. */
const MAX_SLOTS_AT_ONCE = 512;

function accountTopic(call: RpcCall): Topic {
  const address = call.address(0);
  const config = call.config(1);
  return {
    notification: "accountNotification",
    commitment: readCommitment(config["commitment"]),
    tell: ({ chain, slot, transactions }) => {
      if (!changedBy(chain, transactions).has(address)) return [];
      const view = chain.viewAt(slot);
      return [{ result: withContext(slot, encodeAccountForNews(view.account(address), config, view)) }];
    },
  };
}

function programTopic(call: RpcCall): Topic {
  const program = call.address(0);
  const config = call.config(1);
  const matches = readFilters(config["filters"]);
  return {
    notification: "programNotification",
    commitment: readCommitment(config["commitment"]),
    tell: ({ chain, slot, transactions }) => {
      const view = chain.viewAt(slot);
      return [...changedBy(chain, transactions)].flatMap((pubkey) => {
        const account = view.account(pubkey);
        if (account?.owner !== program || !matches(account.data)) return [];
        return [
          { result: withContext(slot, { pubkey, account: encodeAccountForNews(account, config, view) }) },
        ];
      });
    },
  };
}

/** The accounts that the transactions wrote; a failed transaction wrote only its fee payer. */
function changedBy({ log }: ChainState, transactions: readonly NotedTransaction[]): Set<string> {
  const written = transactions.flatMap((noted) => {
    const { all } = log.told(noted).keys;
    return (noted.err === null ? all : all.slice(0, 1)).filter(({ isWritable }) => isWritable);
  });
  return new Set(written.map(({ address }) => address));
}

function signatureTopic(call: RpcCall): Topic {
  const signature = call.signature(0);
  const config = call.config(1);
  let isReceiptDue = config["enableReceivedNotification"] === true;
  return {
    notification: "signatureNotification",
    commitment: readCommitment(config["commitment"]),
    tell: ({ chain, slot }) => {
      const landed = chain.log.withSignature(signature);
      if (landed === undefined) return [];
      const receipt = isReceiptDue ? [{ result: withContext(landed.slot, "receivedSignature") }] : [];
      isReceiptDue = false;
      if (landed.slot > slot) return receipt;
      return [...receipt, { result: withContext(slot, { err: landed.err }), isLast: true }];
    },
  };
}

function logsTopic(call: RpcCall): Topic {
  const concerns = readMentions(call.optional(0));
  return {
    notification: "logsNotification",
    commitment: readCommitment(call.config(1)["commitment"]),
    tell: ({ chain: { log }, transactions }) =>
      transactions
        .map((noted) => log.told(noted))
        .filter(({ keys }) => concerns(keys))
        .map(({ slot, signature, err, logs }) => ({ result: withContext(slot, { signature, err, logs }) })),
  };
}

/** "all", "allWithVotes" (there are no votes here) or `{ mentions: [address] }`. */
function readMentions(value: unknown): (keys: AccountKeys) => boolean {
  if (value === "all" || value === "allWithVotes") return () => true;
  const mentions = (value as { mentions?: unknown } | null | undefined)?.mentions;
  if (!Array.isArray(mentions)) {
    throw invalidParams("Invalid params: expected all, allWithVotes or mentions.");
  }
  if (mentions.length !== 1) throw invalidParams("Invalid Request: Only 1 address supported");
  const mentioned = readAddress(mentions[0]);
  return ({ all }) => all.some(({ address }) => address === mentioned);
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

function rootTopic(): Topic {
  return {
    notification: "rootNotification",
    commitment: "finalized",
    tell: ({ slot, lastSlot }) => slotsBetween(lastSlot, slot).map((root) => ({ result: root })),
  };
}

/** The slots after `last` up to `slot`. */
function slotsBetween(last: number, slot: number): number[] {
  const count = Math.min(slot - last, MAX_SLOTS_AT_ONCE);
  return Array.from({ length: count }, (_, index) => slot - count + 1 + index);
}

/** The topics by their name; `accountSubscribe` begins and `accountUnsubscribe` ends a subscription to `account`. */
export const TOPICS: Readonly<Record<string, (call: RpcCall) => Topic>> = {
  account: accountTopic,
  program: programTopic,
  signature: signatureTopic,
  logs: logsTopic,
  slot: slotTopic,
  root: rootTopic,
};
