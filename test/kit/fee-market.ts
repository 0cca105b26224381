/** A market for places in blocks, as a rule of the proxy before any node. */
import { MessageV1, VersionedTransaction } from "@solana/web3.js";
import type { FaultRule } from "../../src/local/index.ts";
import { signatureOf } from "./node-proxy.ts";

/** What a transaction bids, in millionths of a lamport per compute unit. */
function unitPriceOf(bytes: Uint8Array): bigint {
  const { message } = VersionedTransaction.deserialize(bytes);
  if (message instanceof MessageV1) {
    const { priorityFee, computeUnitLimit } = message.transactionConfig;
    return (BigInt(priorityFee ?? 0) * 1_000_000n) / BigInt(computeUnitLimit ?? 1);
  }
  for (const { programIdIndex, data } of message.compiledInstructions) {
    const program = message.staticAccountKeys[programIdIndex]?.toBase58() ?? "";
    if (program.startsWith("ComputeBudget") && data[0] === 3) return Buffer.from(data).readBigUInt64LE(1);
  }
  return 0n;
}

/** A node of the market takes all bytes, and no block takes those that bid too little. */
export class FeeMarket {
  /** Every slot refuses bids below this. */
  least = 0n;
  /** What the node tells of recent blocks. */
  told: readonly number[] = [0];
  /** The bids that were taken, in the order of their sends, each once. */
  readonly bids = new Map<string, bigint>();

  readonly rule: FaultRule = ({ method, params: [sent] }) => {
    if (method === "getRecentPrioritizationFees") {
      const told = this.told.map((prioritizationFee, slot) => ({ slot, prioritizationFee }));
      return { kind: "lie", answer: () => told };
    }
    if (method !== "sendTransaction") return undefined;
    const bid = unitPriceOf(Buffer.from(String(sent), "base64"));
    this.bids.set(signatureOf(sent), bid);
    return bid < this.least ? { kind: "drop" } : undefined;
  };
}
