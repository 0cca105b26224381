/** Asks a swap provider for an offer, and whether its price still is good enough to sign. */
import type { Swapper, OfferedSwap, SwapOffer, ReservedAmountLookup, WantedSwap } from "./swap-provider.ts";
import { PaymentError, upstreamError } from "../../../errors/errors.ts";
import { LedgerUnavailable } from "../../../ledger/ledger.ts";
import { refuseTooLarge } from "../assets/amount-errors.ts";

/** Asks the provider. Rejects when it cannot be asked, which is no reason to sign. */
export async function isStillGood(
  swapper: Pick<Swapper, "isStillGood">,
  offered: OfferedSwap,
): Promise<boolean> {
  return (await swapper.isStillGood?.(offered)) ?? true;
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
