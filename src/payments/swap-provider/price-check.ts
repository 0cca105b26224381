/** Asks a swap provider for an offer, and whether its price still is good enough to sign. */
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Assets } from "../assets/assets.ts";
import type { Swapper, OfferedSwap, SwapOffer, ReservedAmountLookup, WantedSwap } from "./swap-provider.ts";
import { PaymentError, upstreamError } from "../../errors.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import { refuseTooLarge } from "../assets/amount-errors.ts";

/** Asked right before a payment of the service's own is signed. True for everything that is no swap. */
export type PriceCheck = (
  payment: Pick<PaymentRecord, "kind" | "transactionId" | "mint" | "legs">,
) => Promise<boolean>;

/** Asks the provider. Rejects when it cannot be asked, which is no reason to sign. */
export async function isStillGood(
  swapper: Pick<Swapper, "isStillGood">,
  offered: OfferedSwap,
): Promise<boolean> {
  return (await swapper.isStillGood?.(offered)) ?? true;
}

/** The check of planned swaps, which are at the price of the moment they were planned in. */
export function priceCheck({
  storage,
  assets,
  swapper,
}: {
  readonly storage: Pick<PaymentStorage, "transaction" | "quote">;
  readonly assets: Assets;
  /** Null while no provider is configured. */
  readonly swapper: Swapper | null;
}): PriceCheck {
  return async ({ kind, transactionId, mint, legs }) => {
    if (kind !== "swap" || swapper === null) return true;
    const view = await storage.transaction(transactionId);
    const quote = view === null ? null : await storage.quote(view.transaction.quoteId);
    const [leg] = legs;
    if (quote === null || leg === undefined) throw new Error(`swap ${transactionId} is not stored`);
    const { inputMint, inputAmount, networkFee, routingFee, rent } = quote;
    return isStillGood(swapper, {
      give: assets.named(inputMint),
      get: assets.named(mint),
      inputAmount: inputAmount - networkFee - routingFee - rent,
      outputAmount: leg.amount,
    });
  };
}

/**
 * The offer; a provider that cannot be asked changes nothing, like a chain that cannot. Throws `AMOUNT_TOO_LARGE` for an
 * offer of more than the ledger can hold.
 */
export async function offerOf(
  swapper: Swapper,
  wanted: WantedSwap,
  promised: ReservedAmountLookup,
): Promise<SwapOffer> {
  try {
    const offer = await swapper.offer(wanted, promised);
    refuseTooLarge(offer.outputAmount, wanted.get);
    return offer;
  } catch (cause) {
    return unasked(cause);
  }
}

/**
 * The error for a provider that could not be asked: refusals of the provider, and silence of the chain, pass unchanged.
 */
export function unasked(cause: unknown): never {
  if (cause instanceof PaymentError || cause instanceof LedgerUnavailable) throw cause;
  throw upstreamError({ cause });
}
