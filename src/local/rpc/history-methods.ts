/** Methods about landed transactions, single or by block. */
import { blockHeightOf } from "../blockhash-list.ts";
import { refuseCleanedUp } from "./block-methods.ts";
import type { NotedTransaction, TransactionHistory } from "../transaction-history.ts";
import {
  type RpcCallOptions,
  readCommitment,
  readCount,
  readSignature,
  type RpcCall,
  type RpcHandler,
  withContext,
} from "./call.ts";
import { invalidParams, RPC_CODE, RpcError } from "./errors.ts";
import { encodeLandedTransaction, encodeParticipants } from "./transaction-json.ts";

/** agave's limits. */
const MAX_STATUSES = 256;
const MAX_SIGNATURES = 1000;
const MAX_BLOCKS = 500_000;

/** Without history search a node knows the statuses of so many recent slots only. */
const STATUS_CACHE_SLOTS = 300;

function getSignatureStatuses(call: RpcCall): unknown {
  const signatures = call.list(0, MAX_STATUSES).map(readSignature);
  const searchesHistory = call.config(1)["searchTransactionHistory"] === true;
  const cached = call.head - STATUS_CACHE_SLOTS;
  // The cache comes with a snapshot, the ledger does not.
  const oldest = searchesHistory ? Math.min(call.firstSlot, cached) : cached;
  return withContext(
    call.head,
    signatures.map((signature) => {
      const landed = call.chain.log.withSignature(signature);
      return landed === undefined || landed.slot > call.head || landed.slot < oldest
        ? null
        : status(call, landed);
    }),
  );
}

function status(call: RpcCall, { slot, err }: NotedTransaction): unknown {
  const confirmationStatus = commitmentOf(call, slot);
  return {
    slot,
    confirmations: confirmationStatus === "finalized" ? null : call.head - slot,
    err,
    status: err === null ? { Ok: null } : { Err: err },
    confirmationStatus,
  };
}

function commitmentOf(call: RpcCall, slot: number): string {
  if (slot <= call.chain.slotAt("finalized", call.head)) return "finalized";
  return slot <= call.chain.slotAt("confirmed", call.head) ? "confirmed" : "processed";
}

function getSignaturesForAddress(call: RpcCall): unknown {
  const address = call.address(0);
  const config = atLeastConfirmed(call.config(1));
  const limit = readCount(config["limit"] ?? MAX_SIGNATURES);
  if (limit < 1 || limit > MAX_SIGNATURES) throw invalidParams(`Invalid limit; max ${MAX_SIGNATURES}`);
  const { slot } = call.view(config);
  const before = position(call, config["before"], Number.POSITIVE_INFINITY);
  // No transaction is before an unknown signature, and all are after it.
  const until = position(call, config["until"], -1) ?? -1;
  if (before === undefined) return [];
  return call.chain.log
    .naming(address)
    .filter((landed) => landed.slot >= call.firstSlot && landed.slot <= slot)
    .filter((landed) => landed.position < before && landed.position > until)
    .slice(-limit)
    .toReversed()
    .map((landed) => ({
      signature: landed.signature,
      slot: landed.slot,
      err: landed.err,
      memo: landed.memo,
      blockTime: Math.floor(landed.time / 1000),
      confirmationStatus: commitmentOf(call, landed.slot),
    }));
}

/** The place of the given signature, `undefined` for an unknown one, `absent` when none is given. */
function position(call: RpcCall, signature: unknown, absent: number): number | undefined {
  if (signature === undefined || signature === null) return absent;
  return call.chain.log.withSignature(readSignature(signature))?.position;
}

function getTransaction(call: RpcCall): unknown {
  const signature = call.signature(0);
  const config = blockConfig(call);
  const landed = call.chain.log.withSignature(signature);
  const newest = call.view(config).slot;
  if (landed === undefined || landed.slot > newest || landed.slot < call.firstSlot) return null;
  return {
    slot: landed.slot,
    blockTime: Math.floor(landed.time / 1000),
    ...encodeLandedTransaction(call.chain.log.whole(landed), config),
  };
}

/** The configuration of methods that read one transaction or block; the encoding may stand alone in its place. */
function blockConfig(call: RpcCall): RpcCallOptions {
  const second = call.optional(1);
  return atLeastConfirmed(typeof second === "string" ? { encoding: second } : call.config(1));
}

/** Methods about history look where only confirmed blocks are kept. */
function atLeastConfirmed(config: RpcCallOptions): RpcCallOptions {
  if (readCommitment(config["commitment"]) === "processed") {
    throw invalidParams("Method does not support commitment below `confirmed`");
  }
  return config;
}

function getBlock(call: RpcCall): unknown {
  const slot = call.count(0);
  const config = blockConfig(call);
  const { chain } = call;
  refuseCleanedUp(call, slot);
  if (slot < chain.genesis.slot || slot > call.view(config).slot) {
    throw new RpcError(RPC_CODE.blockNotAvailable, `Block not available for slot ${slot}`);
  }
  return {
    blockhash: chain.blockhashes.of(slot),
    previousBlockhash: chain.blockhashes.of(slot - 1),
    parentSlot: slot - 1,
    blockHeight: blockHeightOf(slot),
    blockTime: Math.floor(chain.timeOf(slot) / 1000),
    ...blockContent(chain.log, slot, config),
    ...(config["rewards"] === false ? {} : { rewards: [] }),
  };
}

function blockContent(log: TransactionHistory, slot: number, config: RpcCallOptions): object {
  const landed = log.inSlots(slot, slot);
  const details = config["transactionDetails"] ?? "full";
  switch (details) {
    case "full":
      return { transactions: landed.map((one) => encodeLandedTransaction(log.whole(one), config)) };
    case "accounts":
      return { transactions: landed.map((one) => encodeParticipants(log.whole(one), config)) };
    case "signatures":
      return { signatures: landed.map(({ signature }) => signature) };
    case "none":
      return {};
    default:
      throw invalidParams(
        `Invalid params: this chain does not write transactionDetails ${JSON.stringify(details)}.`,
      );
  }
}

function getBlocks(call: RpcCall): unknown {
  const hasEnd = typeof call.optional(1) === "number";
  const config = atLeastConfirmed(call.config(hasEnd || call.optional(1) === undefined ? 2 : 1));
  const newest = call.view(config).slot;
  const start = Math.max(call.count(0), call.chain.genesis.slot, call.firstSlot);
  const end = hasEnd ? Math.min(call.count(1), newest) : newest;
  if (end - start > MAX_BLOCKS) throw invalidParams(`Slot range too large; max ${MAX_BLOCKS}`);
  return Array.from({ length: Math.max(0, end - start + 1) }, (_, index) => start + index);
}

/** The methods of this file by name. */
export const historyMethods: Readonly<Record<string, RpcHandler>> = {
  getSignatureStatuses,
  getSignaturesForAddress,
  getTransaction,
  getBlock,
  getBlocks,
};
