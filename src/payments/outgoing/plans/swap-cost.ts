/** The highest cost of a private swap for the sponsor, in lamports. */
import { ANY_SEED, TOKEN_ACCOUNT_BYTES, type RoutingLedger } from "../../../ledger/routing.ts";
import type { Address } from "../../../address.ts";
import { ledgerMint, type Token } from "../../assets/assets.ts";
import { routingCost, type PricedBid, type RoutingCost } from "./routing-cost.ts";
import type { Swapper } from "../../swap-provider/swap-provider.ts";

/** The cost of a swap, which one more signer signs than a payout, and the common costs of an order. */
export async function swapCost(
  ledger: RoutingLedger,
  {
    sponsor,
    treasury,
    desk,
  }: {
    readonly sponsor: Address;
    readonly treasury: Address;
    readonly desk: NonNullable<Swapper["direct"]>;
  },
  {
    give,
    get,
    pricedAccounts,
    bid,
  }: { readonly give: Token; readonly get: Token; readonly pricedAccounts: number; readonly bid: PricedBid },
): Promise<RoutingCost> {
  const moves = desk.moves({
    give,
    get,
    inputAmount: 1n,
    outputAmount: 1n,
    from: treasury,
    to: treasury,
    accountPayer: sponsor,
  });
  const [others, fee, emptyRent, markerRent] = await Promise.all([
    routingCost(ledger, { sponsor, treasury }, { asset: give, recipients: 0, pricedAccounts: 0, bid }),
    ledger.feeOf(
      {
        feePayer: sponsor,
        moves: [{ does: "mark", base: treasury, seed: ANY_SEED, payer: sponsor }, ...moves],
      },
      bid,
    ),
    ledger.rentMinimum(0),
    ledger.rentMinimum(TOKEN_ACCOUNT_BYTES),
  ]);
  const loan = ledgerMint(give) === null ? emptyRent : 0n;
  return {
    networkFees: others.networkFees + fee,
    transactions: others.transactions + 1,
    bids: others.bids + ledger.bidCeiling,
    tips: others.tips + (ledger.tip ?? 0n),
    accountRent: ledgerMint(get) === null ? 0n : markerRent * BigInt(pricedAccounts),
    deposits: others.deposits + markerRent + loan,
  };
}
