/** Asking a swap provider: what it refuses is reported as its own, and its silence as that of something behind us. */
import { PaymentError } from "../../errors.ts";
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

/** For a provider that could not be asked: its own refusals, and the chain's silence, mean what they say. */
export function unasked(cause: unknown): never {
  if (cause instanceof PaymentError || cause instanceof LedgerUnavailable) throw cause;
  throw new PaymentError("UPSTREAM_ERROR", {}, { cause });
}
