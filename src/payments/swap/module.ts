/** Swaps that their sender signs, with a provider that signs beside him or has built the transaction. */
import type { CreatedTransferBody } from "../frame/signed/accept-signed.ts";
import type { WayModule } from "../frame/way-module.ts";
import { acceptSwap } from "./accept-swap.ts";
import { completeSwap } from "./complete-swap.ts";
import { swapQuotes } from "./quote-swap.ts";

export const swap: WayModule<CreatedTransferBody> = {
  name: "swap",
  ways({ swapper, ...deps }) {
    if (swapper === null) return [];
    const swapping = { ...deps, swapper };
    return [{ ...swapQuotes(swapping), accept: (request) => acceptSwap(swapping, request) }];
  },
  complete: completeSwap,
};
