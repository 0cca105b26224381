/** Computes the priority fee that a caller's transaction bids. */
import { MAX_COMPUTE_UNITS, priorityFeeOf } from "./compute-budget.ts";
import type { DecodedInstruction } from "./read-instruction.ts";

/**
 * 0.05 SOL, far above what wallets bid in a rush. It only stops a transaction whose declared payment is bait and whose
 * priority fee empties the sender's wallet.
 */
export const MAX_PRIORITY_FEE = 50_000_000n;

/** The priority fee in lamports at most: a transaction that sets no limit of its own may compute as much as any. */
export function priorityFee(meanings: readonly DecodedInstruction[]): bigint {
  let units = MAX_COMPUTE_UNITS;
  let microLamports = 0n;
  for (const meaning of meanings) {
    if (meaning.does === "limit_compute" && meaning.units < units) units = meaning.units;
    if (meaning.does === "price_compute") microLamports = meaning.microLamports;
  }
  return priorityFeeOf(units, microLamports);
}
