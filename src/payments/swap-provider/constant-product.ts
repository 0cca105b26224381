/** The price of a pool without a market: x · y = k, so the price rises with the amount taken. */

/** A pool's balances of both assets, in base units. */
interface Reserves {
  readonly give: bigint;
  readonly get: bigint;
}

const BPS = 10_000n;
/** Hundredths of a percent of a percent: as exact as anybody reads a price impact. */
const IMPACT_PRECISION = 10_000n;

/** The rest of an amount after the spread, which is rounded up. */
export function lessSpread(amount: bigint, spreadBps: number): bigint {
  return amount - (amount * BigInt(spreadBps) + BPS - 1n) / BPS;
}

/** The output for `amount`, rounded down: the product of both reserves never shrinks. 0 for an empty pool. */
export function constantProduct(amount: bigint, { give, get }: Reserves): bigint {
  const taken = give + amount;
  return give <= 0n || get <= 0n || amount <= 0n ? 0n : (amount * get) / taken;
}

/** The price move against the giver of `amount`, in percent. */
export function priceImpact(amount: bigint, { give }: Reserves): number {
  const taken = give + amount;
  return taken <= 0n ? 0 : Number((amount * 100n * IMPACT_PRECISION) / taken) / Number(IMPACT_PRECISION);
}
