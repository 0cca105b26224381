/** Methods about slots, blocks, blockhashes and the node itself. */
import { BLOCKHASH_LIFETIME, blockHeightOf } from "../blockhash-list.ts";
import { SLOTS_PER_EPOCH } from "../clock-sysvar.ts";
import { type RpcCallOptions, readAddress, type RpcCall, type RpcHandler, withContext } from "./call.ts";
import { invalidParams, RPC_CODE, RpcError } from "./errors.ts";

/** Milliseconds in a second: the chain counts the former, JSON-RPC the latter. */
const SECOND = 1000;

/** agave's limit for accounts in one call about fees (MAX_TX_ACCOUNT_LOCKS). */
const MAX_PRIORITY_ACCOUNTS = 128;

function slot(call: RpcCall, config: RpcCallOptions = call.config(0)): number {
  return call.view(config).slot;
}

function getLatestBlockhash(call: RpcCall): unknown {
  const at = slot(call);
  return withContext(at, {
    blockhash: call.chain.blockhashes.of(at),
    lastValidBlockHeight: call.chain.blockhashes.lastValidBlockHeight(at),
  });
}

function isBlockhashValid(call: RpcCall): unknown {
  const at = slot(call, call.config(1));
  return withContext(at, call.chain.blockhashes.isValid(call.address(0), at));
}

function getBlockTime(call: RpcCall): unknown {
  const asked = call.count(0);
  refuseCleanedUp(call, asked);
  if (asked > call.head || asked < call.chain.genesis.slot) {
    throw new RpcError(RPC_CODE.blockNotAvailable, `Block not available for slot ${asked}`);
  }
  return Math.floor(call.chain.timeOf(asked) / SECOND);
}

/** Throws for a block that is older than the node's ledger. */
export function refuseCleanedUp({ firstSlot }: RpcCall, asked: number): void {
  if (asked >= firstSlot) return;
  throw new RpcError(
    RPC_CODE.blockCleanedUp,
    `Block ${asked} cleaned up, does not exist on node. First available block: ${firstSlot}`,
  );
}

function getEpochInfo(call: RpcCall): unknown {
  const at = slot(call);
  return {
    absoluteSlot: at,
    blockHeight: blockHeightOf(at),
    epoch: Math.floor(at / SLOTS_PER_EPOCH),
    slotIndex: at % SLOTS_PER_EPOCH,
    slotsInEpoch: SLOTS_PER_EPOCH,
    transactionCount: call.chain.log.length,
  };
}

function getRecentPrioritizationFees(call: RpcCall): unknown {
  if (call.optional(0) !== undefined) call.list(0, MAX_PRIORITY_ACCOUNTS).forEach(readAddress);
  // Transactions do not compete for this chain's blocks.
  const slots = Array.from({ length: BLOCKHASH_LIFETIME }, (_, index) => call.head - index).toReversed();
  return slots.map((past) => ({ slot: past, prioritizationFee: 0 }));
}

function getMinimumBalanceForRentExemption(call: RpcCall): unknown {
  const length = call.count(0);
  if (length > 10 * 1024 * 1024) throw invalidParams("Invalid params: accounts hold at most 10 MiB.");
  return call.chain.rentFor(length);
}

/** The methods of this file by name. */
export const blockMethods: Readonly<Record<string, RpcHandler>> = {
  getLatestBlockhash,
  isBlockhashValid,
  getSlot: (call) => slot(call),
  getBlockHeight: (call) => blockHeightOf(slot(call)),
  getTransactionCount: (call) => call.chain.log.length,
  getBlockTime,
  // A ledger since genesis begins at slot 0, also where the first slot with a block is a later one.
  getFirstAvailableBlock: (call) => call.firstSlot,
  getEpochInfo,
  getGenesisHash: (call) => call.chain.genesisHash,
  getHealth: () => "ok",
  getVersion: () => ({ "solana-core": "litesvm-1.5.0", "feature-set": 0 }),
  getRecentPrioritizationFees,
  getMinimumBalanceForRentExemption,
};
