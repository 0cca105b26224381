/** The wallets of a way that pays out of addresses of its own: the sponsor bears network costs, the treasury gets fees. */
import type { Address } from "../../../core/address.ts";
import type { Swapper } from "../exchange/swap-provider.ts";

export interface RoutingWallets {
  readonly sponsor: Address;
  readonly treasury: Address;
  /** Lamports below which the sponsor is low. */
  readonly sponsorLowBelow: () => Promise<bigint>;
}

/** The service's own addresses: no customer's money goes there. Empty without purses. */
export function ownAddresses(
  wallets: Pick<RoutingWallets, "sponsor" | "treasury"> | null,
  swapper: Pick<Swapper, "direct"> | null,
): readonly Address[] {
  const own = [wallets?.sponsor, wallets?.treasury, swapper?.direct?.signer.address];
  return own.filter((address) => address !== undefined);
}
