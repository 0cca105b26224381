/** Priority fees: compute units times a price, as every cluster counts it. */

/** Compute units that the runtime allows one transaction at most, and grants where more is asked for. */
export const MAX_COMPUTE_UNITS = 1_400_000;

/** The numbers of the ComputeBudget instructions that set the limit and the price. */
export const SET_COMPUTE_UNIT_LIMIT = 2;
/** See above. */
export const SET_COMPUTE_UNIT_PRICE = 3;

const MICRO_LAMPORTS = 1_000_000n;

/** The priority fee in lamports, rounded up, of a transaction that asks for `units` at this price each. */
export function priorityFeeOf(units: number, microLamports: bigint): bigint {
  const charged = BigInt(Math.min(units, MAX_COMPUTE_UNITS));
  return (charged * microLamports + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
}
