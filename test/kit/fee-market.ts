/** A market for places in blocks, in front of any node. */
import { MessageV1, VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import type { Fetch } from "../../src/solana/index.ts";

/** What a transaction bids, in millionths of a lamport per compute unit. */
export function unitPriceOf(bytes: Uint8Array): bigint {
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
  readonly #node: Fetch;

  constructor(node: Fetch) {
    this.#node = node;
  }

  readonly fetch: Fetch = async (url, init) => {
    const { id, method, params } = JSON.parse(typeof init?.body === "string" ? init.body : "") as {
      readonly id: unknown;
      readonly method: string;
      readonly params?: readonly unknown[];
    };
    const answer = (result: unknown): Response => Response.json({ jsonrpc: "2.0", id, result });
    if (method === "getRecentPrioritizationFees") {
      return answer(this.told.map((prioritizationFee, slot) => ({ slot, prioritizationFee })));
    }
    if (method !== "sendTransaction") return await this.#node(url, init);
    const bytes = Buffer.from(String(params?.[0]), "base64");
    // The first signature is the name of the transaction.
    const [first = new Uint8Array()] = VersionedTransaction.deserialize(bytes).signatures;
    const [signature, bid] = [bs58.encode(first), unitPriceOf(bytes)];
    this.bids.set(signature, bid);
    return bid < this.least ? answer(signature) : await this.#node(url, init);
  };
}
