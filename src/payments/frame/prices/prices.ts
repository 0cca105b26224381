/** Prices of assets in other assets, which no chain tells. */
import type { AskPart } from "../host-parts.ts";
import { MAINNET_GENESIS } from "../assets/assets.ts";
import { StartRefused } from "../secrets/bind-database.ts";

/** `give` base units of one asset are worth `get` base units of another. */
export interface Rate {
  readonly give: bigint;
  readonly get: bigint;
  /**
   * When the market had this price, in milliseconds since the Unix epoch. Give it wherever the market tells it: without
   * it a price that a cache has kept since yesterday looks like a new one.
   */
  readonly at?: number;
}

/**
 * A source of prices. Asked for every private quote, whose fee is paid in the deposited asset while the network wants
 * lamports; a host on mainnet answers from its market data. An error, or a price refused by `PriceBounds`, makes
 * private mode answer ROUTING_UNAVAILABLE and a swap UPSTREAM_ERROR, and a desk signs nothing.
 */
export interface PriceSource {
  /** The mints as in the token list, SOL by its wrapped mint. `signal` is aborted when the price is not waited for any more. */
  rate(giveMint: string, getMint: string, signal?: AbortSignal): Promise<Rate>;
  /** True for prices that never move. A service does not start with them on mainnet. */
  readonly isFixed?: boolean;
}

/** The worth of `amount` of the given asset, rounded up: costs are never rounded in the payer's favour. */
export function worthAtMost(amount: bigint, { give, get }: Rate): bigint {
  return (amount * get + give - 1n) / give;
}

/** The dearest that what is given may become while the price stays within so many hundredths of a percent. */
export function dearestWithin({ give, get }: Rate, bps: number): Rate {
  return { give: give * BPS, get: get * (BPS + BigInt(bps)) };
}

/** Hundredths of a percent in a whole. */
const BPS = 10_000n;

/**
 * Prices that never move, for local chains and tests: amounts of equal worth by mint, in base units, such as one SOL and
 * 150 USDC. Throws for a mint that is not among them. Refused on mainnet when the service starts.
 *
 * @example
 * ```ts
 * import { fixedPrices } from "paystate";
 *
 * const SOL = "So11111111111111111111111111111111111111112";
 * const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
 * const prices = fixedPrices({ [SOL]: 1_000_000_000n, [USDC]: 150_000_000n }); // one SOL is worth 150 USDC
 * const { give, get } = await prices.rate(SOL, USDC);
 * console.log((2_000_000_000n * get) / give); // 300000000n
 * ```
 */
export function fixedPrices(equalWorth: Readonly<Record<string, bigint>>): PriceSource {
  const worth = (mint: string): bigint => {
    const amount = equalWorth[mint];
    if (amount === undefined) throw new Error(`there is no price for ${mint}`);
    return amount;
  };
  return {
    isFixed: true,
    rate: async (giveMint, getMint) => ({ give: worth(giveMint), get: worth(getMint) }),
  };
}

/** Callers of the API wait for a price. */
const DEADLINE_MS = 5_000;

/** The price source, asked through `ask`. */
export function askedPrices(source: PriceSource, part: string, ask: AskPart): PriceSource {
  return {
    rate: (giveMint, getMint) => ask(part, (signal) => source.rate(giveMint, getMint, signal), DEADLINE_MS),
    ...(source.isFixed === undefined ? {} : { isFixed: source.isFixed }),
  };
}

/** Throws `StartRefused` on mainnet, naming the option. */
export function refuseFixedPrices(
  genesisHash: string,
  prices: Pick<PriceSource, "isFixed"> | null,
  option: string,
): void {
  if (genesisHash !== MAINNET_GENESIS || prices?.isFixed !== true) return;
  throw new StartRefused(
    `${option}: these prices never move, which is for local chains; on mainnet give a source that asks the market`,
  );
}
