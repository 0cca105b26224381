/** Refuses options in which two purses are one wallet: nobody could tell whose money is missing. */
import type { Address } from "../../address.ts";
import { InvalidOptions } from "../../options.ts";

/** The wallets of private mode. */
interface Purses {
  readonly sponsor: Address;
  readonly treasury: Address;
  /** Null while no provider swaps within transactions of ours. */
  readonly desk: Address | null;
}

/** Throws `InvalidOptions` with a sentence for every two purses in one wallet. */
export function refuseSharedPurses({ sponsor, treasury, desk }: Purses): void {
  const problems = [
    ...(sponsor === treasury
      ? [
          "privateRouting.treasury: it is the sponsor; fees would be spent as they come in; give it its own wallet",
        ]
      : []),
    ...(desk === sponsor
      ? [
          "swap.provider: its signer is the sponsor; network fees would come out of the inventory; give it its own wallet",
        ]
      : []),
    ...(desk === treasury
      ? ["swap.provider: its signer is the treasury; fees would be sold as inventory; give it its own wallet"]
      : []),
  ];
  if (problems.length > 0) throw new InvalidOptions("createPaymentService", problems);
}
