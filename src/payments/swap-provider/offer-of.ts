/** Asks a swap provider: reports its refusals unchanged, and its silence as an upstream error. */
import { PaymentError, upstreamError } from "../../errors.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import { refuseTooLarge } from "../assets/largest-sum.ts";
import type { SwapOffer, Swapper, ReservedAmountLookup, WantedSwap } from "./swap-provider.ts";

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
