/** The watch over the service's own wallets, as the options have them. */
import { InvalidOptions } from "../core/options.ts";
import { amountsByMint } from "../payments/frame/assets/assets.ts";
import type { RoutingWallets } from "../payments/frame/purses/routing-wallets.ts";
import type { Swapper } from "../payments/frame/exchange/swap-provider.ts";
import { PurseWatch, type PurseParts } from "../payments/frame/purses/purses.ts";

interface PurseHolders {
  /** Null while no module routes payments. */
  readonly wallets: RoutingWallets | null;
  /** Null while no provider is configured. */
  readonly swapper: Pick<Swapper, "direct"> | null;
  /** `swap.lowBalance`: decimal strings by symbol. */
  readonly deskLowBalance: Readonly<Record<string, string>>;
}

/** Throws `InvalidOptions` that names each threshold that is no amount of an asset. */
export function openPurses(
  deps: Omit<PurseParts, "purses">,
  { wallets, swapper, deskLowBalance }: PurseHolders,
): PurseWatch {
  const thresholds = amountsByMint(deps.assets.tokens, deskLowBalance, "swap.lowBalance");
  if ("problems" in thresholds) throw new InvalidOptions("createPaymentService", thresholds.problems);
  return new PurseWatch({
    ...deps,
    purses: {
      sponsor: wallets?.sponsor ?? null,
      treasury: wallets?.treasury ?? null,
      desk: swapper?.direct?.signer.address ?? null,
      sponsorLowBelow: async () => wallets?.sponsorLowBelow() ?? 0n,
      deskLowBelow: thresholds.amounts,
    },
  });
}
