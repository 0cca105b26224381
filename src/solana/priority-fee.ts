/** Computes the priority fee that a caller's transaction bids. */
import { MessageV1 } from "@solana/web3.js";
import { MAX_COMPUTE_UNITS, priorityFeeOf } from "./compute-budget.ts";
import type { ReadableMessage } from "./message-v1.ts";
import type { DecodedInstruction } from "./read-instruction.ts";

/**
 * 0.05 SOL, far above what wallets bid in a rush. It only stops a transaction whose declared payment is bait and whose
 * priority fee empties the sender's wallet.
 */
export const MAX_PRIORITY_FEE = 50_000_000n;

/**
 * The priority fee in lamports at most: a transaction that sets no limit of its own may compute as much as any. A message
 * of version 1 states the whole fee, and its instructions bid nothing.
 */
export function priorityFee(message: ReadableMessage, meanings: readonly DecodedInstruction[]): bigint {
  if (message instanceof MessageV1) return BigInt(message.transactionConfig.priorityFee ?? 0);
  let units = MAX_COMPUTE_UNITS;
  let microLamports = 0n;
  for (const meaning of meanings) {
    if (meaning.does === "limit_compute" && meaning.units < units) units = meaning.units;
    if (meaning.does === "price_compute") microLamports = meaning.microLamports;
  }
  return priorityFeeOf(units, microLamports);
}
