/** The watch over the service's own wallets, and their addresses, as the options have them. */
import { InvalidOptions } from "../core/options.ts";
import { amountsByMint } from "../payments/frame/assets/assets.ts";
import type { PrivateRouting } from "../payments/private/private-routing.ts";
import type { Swapper } from "../payments/frame/exchange/swap-provider.ts";
import { SENDS } from "../payments/frame/purses/check-purses.ts";
import { PurseWatch, type PurseParts } from "../payments/frame/purses/purses.ts";
import type { Address } from "../core/address.ts";

interface PurseHolders {
  /** Null while private mode is off. */
  readonly routing: Pick<PrivateRouting, "terms" | "pricing"> | null;
  /** Null while no provider is configured. */
  readonly swapper: Pick<Swapper, "direct"> | null;
  /** `swap.lowBalance`: decimal strings by symbol. */
  readonly deskLowBalance: Readonly<Record<string, string>>;
}

/** Throws `InvalidOptions` that names each threshold that is no amount of an asset. */
export function openPurses(
  deps: Omit<PurseParts, "purses">,
  { routing, swapper, deskLowBalance }: PurseHolders,
): PurseWatch {
  const thresholds = amountsByMint(deps.assets.tokens, deskLowBalance, "swap.lowBalance");
  if ("problems" in thresholds) throw new InvalidOptions("createPaymentService", thresholds.problems);
  return new PurseWatch({
    ...deps,
    purses: {
      sponsor: routing?.terms.sponsor.address ?? null,
      treasury: routing?.terms.treasury ?? null,
      desk: swapper?.direct?.signer.address ?? null,
      sponsorLowBelow: async () =>
        routing === null
          ? 0n
          : (routing.terms.lowBalance ?? (await routing.pricing.dearestSend(deps.assets)) * SENDS),
      deskLowBelow: thresholds.amounts,
    },
  });
}

interface PurseOwners {
  /** Null while private mode is off. */
  readonly routing: Pick<PrivateRouting, "terms"> | null;
  readonly swapper: Pick<Swapper, "direct"> | null;
}

/** The service's own addresses; empty without purses. */
export function ownAddresses({ routing, swapper }: PurseOwners): readonly Address[] {
  const own = [routing?.terms.sponsor.address, routing?.terms.treasury, swapper?.direct?.signer.address];
  return own.filter((address) => address !== undefined);
}
