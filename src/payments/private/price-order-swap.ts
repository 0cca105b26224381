/** Prices a private swap when its bytes are about to be signed: the price of this moment, or no bytes. */
import { agingTime } from "../../core/clock-trust.ts";
import { PaymentError } from "../../errors/errors.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Signer } from "../../ledger/sign-transaction.ts";
import type { PrivateContext, PrivateWrite } from "./private-storage.ts";
import type { SwapLeg } from "./protocol/chunk.ts";
import type { OrderTerms } from "./protocol/terms.ts";
import { refuseTooLarge } from "../frame/assets/amount-errors.ts";
import type { Token } from "../frame/assets/assets.ts";
import { storageTime } from "../frame/service-context.ts";
import { deskPurse, spend } from "../frame/spending.ts";
import { promisesAt, reserve } from "../frame/purses/reserve.ts";
import type { SwapOffer, Swapper } from "../frame/exchange/swap-provider.ts";

/** The bar to a swap, as its caller hears it if it lasts. */
export type SwapObstacle = "SLIPPAGE_EXCEEDED" | "LIQUIDITY_UNAVAILABLE";

export interface SwapPricingDeps extends Pick<PrivateContext, "storage" | "clock" | "log" | "assets"> {
  /** Null while no provider is configured. */
  readonly swapper: Swapper | null;
}

/** For whom a price is asked. */
export interface PricedOrder {
  readonly terms: OrderTerms;
  readonly accountId: string;
  /** Its quote says the least that was promised: the amount of its recipient is an estimate. */
  readonly quoteId: string;
  /** Names what is set aside: another name for each attempt. */
  readonly attempt: string;
  /** The reservation of the attempt before, which the same commit returns. */
  readonly reserved: readonly string[];
}

/** A swap at a price that is good enough. */
export interface PricedSwap {
  /** The payee's amount, and its giver. */
  readonly swap: SwapLeg;
  readonly desk: Signer;
  /** The new reservation, and its part of the commit that stores the signed bytes. */
  readonly reserved: readonly string[];
  readonly writes: (signature: string) => readonly PrivateWrite[];
}

/** Asks the provider. Throws `LedgerUnavailable` if it could not ask the chain. */
export async function priceOrderSwap(
  deps: SwapPricingDeps,
  order: PricedOrder,
): Promise<PricedSwap | SwapObstacle> {
  const { storage, clock, log, assets, swapper } = deps;
  const { terms, accountId } = order;
  const direct = swapper?.direct ?? null;
  if (swapper === null || direct === null) return "LIQUIDITY_UNAVAILABLE";
  const [now, quote] = await Promise.all([storageTime(deps), storage.quote(order.quoteId)]);
  if (quote === null) throw new Error(`quote ${order.quoteId} is not stored`);
  const promises = promisesAt(storage, agingTime(clock, now), order.reserved);
  const give = assets.named(terms.mint);
  const get = assets.named(terms.payMint);
  const wanted = { give, get, amount: terms.required - terms.fee, accountId };
  try {
    const offer = await swapper.offer(wanted, promises.promised);
    refuseTooLarge(offer.outputAmount, get);
    if (offer.outputAmount < quote.minOutputAmount) return "SLIPPAGE_EXCEEDED";
    return swapAt(order, { direct, get, offer, now, makeRoom: promises.releaseLapsed });
  } catch (err) {
    // Nothing is known of the desk then; the task comes back by itself.
    if (err instanceof LedgerUnavailable) throw err;
    if (!(err instanceof PaymentError)) {
      log.warn({ transactionId: terms.id, err }, "a swap provider gave no price for a funded swap");
    }
    return "LIQUIDITY_UNAVAILABLE";
  }
}

interface GoodOffer {
  readonly direct: NonNullable<Swapper["direct"]>;
  readonly get: Token;
  readonly offer: SwapOffer;
  readonly now: number;
  readonly makeRoom: () => readonly PrivateWrite[];
}

function swapAt({ attempt }: PricedOrder, { direct, get, offer, now, makeRoom }: GoodOffer): PricedSwap {
  const { outputAmount } = offer;
  const { names, writes } = reserve(attempt, offer.reservations, { createdAt: now, lapsesAt: null });
  const purse = deskPurse(direct.signer.address, get.mint);
  return {
    swap: { desk: direct.signer.address, asset: get, output: outputAmount },
    desk: direct.signer,
    reserved: names.map(({ id }) => id),
    writes: (signature) => [
      ...makeRoom(),
      ...writes,
      ...spend({ signature, purse, amount: outputAmount }, now),
    ],
  };
}
