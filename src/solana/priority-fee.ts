/** Computes the priority fee that a caller's transaction bids. */
import type { Meaning } from "./read-instruction.ts";

/**
 * 0.05 SOL, far above what wallets bid in a rush. It only stops a transaction whose declared payment is bait and whose
 * priority fee empties the sender's wallet.
 */
export const MAX_PRIORITY_FEE = 50_000_000n;

// What the runtime allows at most, so the worst case for a transaction that sets no limit of its own.
const MAX_COMPUTE_UNITS = 1_400_000n;
const MICRO_LAMPORTS = 1_000_000n;

/** The priority fee in lamports at most: compute limit times price per unit, rounded up as the runtime does. */
export function priorityFee(meanings: readonly Meaning[]): bigint {
  let units = MAX_COMPUTE_UNITS;
  let microLamports = 0n;
  for (const meaning of meanings) {
    if (meaning.does === "limit_compute" && BigInt(meaning.units) < units) units = BigInt(meaning.units);
    if (meaning.does === "price_compute") microLamports = meaning.microLamports;
  }
  return (units * microLamports + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
}
