/** The default swap provider: a desk that trades out of the operator's own inventory, at a price it is given. */
import { z } from "zod";
import { checkOptions, InvalidOptions, objectWith, optionsWith } from "../../../core/options.ts";
import { GuardedPriceSource, priceBoundsOption } from "../../frame/prices/guarded-prices.ts";
import { askedPrices, type PriceSource } from "../../frame/prices/prices.ts";
import { askedSigner, signerOption } from "../../frame/asked-signer.ts";
import { HostParts, PART_DEADLINE_MS } from "../../frame/host-parts.ts";
import { amountsByMint } from "../../frame/assets/assets.ts";
import { DeskSwapper } from "./desk-swapper.ts";
import type { Swapper, SwapProvider } from "../../frame/exchange/swap-provider.ts";

const deskOptions = optionsWith({
  /**
   * The wallet that holds the inventory and signs, such as `keypairSigner(secretKey)`. Keep all assets to be given in
   * this wallet, and a token account, even empty, for each asset to be taken. The wallet pays no fees and no rent.
   */
  desk: signerOption,
  /**
   * Prices of the assets. Without `prices`, the desk's own inventory makes the price (constant product). That is for
   * local chains and refused on mainnet: a customer could move the price and then trade at it.
   */
  prices: objectWith<PriceSource>(["rate"], "a price source: { rate(giveMint, getMint) }").optional(),
  /** Bounds on believable prices; see `PriceBounds`. Needs `prices`. */
  priceBounds: priceBoundsOption.prefault({}),
  /** The part of each swap that the desk keeps, in hundredths of a percent, 0 to 1,000. Default 30. */
  spreadBps: z.number().int().min(0).max(1_000).default(30),
  /**
   * How far the price may have moved against the desk since a swap was quoted, in hundredths of a percent, 0 to 1,000.
   * Further, and the desk does not sign: the quote is refused as `price_moved`; a swap that was taken already fails as
   * expired, unless the price comes back while its transaction can still land. Default 100. Without `prices` the price
   * is made of what is quoted, and does not move between quote and signature.
   */
  maxDriftBps: z.number().int().min(0).max(1_000).default(100),
  /**
   * The most that the desk gives out of each asset within any 24 hours, as decimal strings by symbol, such as
   * `{ SOL: "100", USDC: "20000" }`. Promises to open quotes and to swaps under way count; the unused part of a failed swap
   * does not. At the limit quotes answer INSUFFICIENT_LIQUIDITY, and funded private swaps wait and are then refunded. An
   * asset that is not named has no limit.
   */
  maxGivenPerDay: z.record(z.string(), z.string()).default({}),
});

/** Options of a desk. @interface */
export type DeskOptions = z.input<typeof deskOptions>;

/**
 * Makes a swap desk. In wallet mode the desk signs exactly the transaction that it built, in private mode one leg of
 * the service's transaction; in both modes the desk pays only in the transaction in which it is paid. Throws
 * `InvalidOptions`; an asset or amount in `maxGivenPerDay` that does not exist is found when the service is made.
 *
 * @example
 * ```ts
 * import { randomBytes } from "node:crypto";
 * import { deskProvider, keypairSigner } from "paystate";
 *
 * // As `swap: { provider }` of `createPaymentService`. Without `prices` it is for local chains.
 * const provider = deskProvider({ desk: keypairSigner(randomBytes(32)), spreadBps: 20 });
 * console.log(provider.name); // desk
 * ```
 */
export function deskProvider(options: DeskOptions): SwapProvider {
  const checked = checkOptions("deskProvider", deskOptions, options);
  if (options.priceBounds !== undefined && options.prices === undefined) {
    throw new InvalidOptions("deskProvider", ["priceBounds: give `prices` too; there is no price to bound"]);
  }
  const { desk, prices, priceBounds, spreadBps, maxDriftBps, maxGivenPerDay } = checked;
  return {
    name: "desk",
    connect(surroundings) {
      const { tokens, clock, ask = new HostParts(clock, PART_DEADLINE_MS).ask } = surroundings;
      const read = amountsByMint(tokens, maxGivenPerDay, "maxGivenPerDay");
      if ("problems" in read) throw new InvalidOptions("deskProvider", read.problems);
      const asked = prices === undefined ? null : askedPrices(prices, "price source of the desk", ask);
      const guarded = asked === null ? null : new GuardedPriceSource(asked, priceBounds, clock);
      const signer = askedSigner(desk, "signer of the desk", ask);
      const terms = { desk: signer, prices: guarded, spreadBps, maxDriftBps, maxGivenPerDay: read.amounts };
      return swapperOf(new DeskSwapper(terms, surroundings));
    },
  };
}

/** Wraps the desk in an object of independent methods, so that a host may spread the object and replace methods. */
function swapperOf(desk: DeskSwapper): Swapper {
  return {
    check: (genesisHash) => desk.check(genesisHash),
    warn: () => desk.warn(),
    queueOf: () => desk.queueOf(),
    offer: (wanted, promised) => desk.offer(wanted, promised),
    isStillGood: (offered) => desk.isStillGood(offered),
    build: (swap) => desk.build(swap),
    complete: (signed) => desk.complete(signed),
    unlimited: desk.unlimited,
    direct: desk.direct,
  };
}
