/** The price of a pool without a market: what it gives falls as much as what it takes grows (x · y = k). */

/** What a pool holds of both assets, in base units. */
interface Reserves {
  readonly give: bigint;
  readonly get: bigint;
}

const BPS = 10_000n;
/** Hundredths of a percent of a percent: as exact as anybody reads a price impact. */
const IMPACT_PRECISION = 10_000n;

/** What is left of an amount after the spread, which is rounded up. */
export function lessSpread(amount: bigint, spreadBps: number): bigint {
  return amount - (amount * BigInt(spreadBps) + BPS - 1n) / BPS;
}

/**
 * What `amount` gets out of the reserves, rounded down: never so much that the product of both would shrink. 0 where the
 * pool has nothing.
 */
export function constantProduct(amount: bigint, { give, get }: Reserves): bigint {
  const taken = give + amount;
  return give <= 0n || get <= 0n || amount <= 0n ? 0n : (amount * get) / taken;
}

/** How far the price moves against the giver of `amount`, in percent. */
export function priceImpact(amount: bigint, { give }: Reserves): number {
  const taken = give + amount;
  return taken <= 0n ? 0 : Number((amount * 100n * IMPACT_PRECISION) / taken) / Number(IMPACT_PRECISION);
}
