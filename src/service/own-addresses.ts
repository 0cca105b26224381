/** The addresses of a service's own purses: sponsor, treasury and swap desk. */
import type { Address } from "../address.ts";
import type { PrivateRouting } from "../payments/private/private-routing.ts";
import type { Swapper } from "../payments/swap-provider/swap-provider.ts";

/** The parts of a service that name its purses. */
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
