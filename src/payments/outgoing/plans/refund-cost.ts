/** Prices a refund: its own transaction, its share of the following sweep, and the receiver's token account. */
import { ANY_SEED, TOKEN_ACCOUNT_BYTES, type RoutingLedger } from "../../../ledger/routing.ts";
import { type Address, SOL_MINT } from "../../../address.ts";
import { ledgerMint, type Token } from "../../assets/assets.ts";
import { worthAtMost, type PriceSource } from "../../prices/prices.ts";

/** The amount that a refund holds back. */
export interface RefundFees {
  /** The cost of a refund for its receiver, in base units of the refunded asset. */
  readonly refundCost: bigint;
  /** Whether that includes a token account of the receiver. */
  readonly isAccountPriced: boolean;
}

/** The cost of refunding an asset, for its receiver. */
export type RefundCost = (asset: Token, receiver: Address) => Promise<RefundFees>;

/** The refund, which may have to bid up to the ceiling, and the sweep that takes its marker away. */
const TRANSACTIONS_PER_REFUND = 2n;
/** A second seed, for the plan that replaces the marker: only size and price matter. */
const OTHER_SEED = "1".repeat(ANY_SEED.length);

export function refundCosts({
  ledger,
  prices,
  sponsor,
  treasury,
}: {
  readonly ledger: RoutingLedger;
  readonly prices: PriceSource;
  readonly sponsor: Address;
  readonly treasury: Address;
}): RefundCost {
  const networkFeeOf = (asset: Token, to: Address): Promise<bigint> => {
    const mint = ledgerMint(asset);
    const { decimals } = asset;
    return ledger.feeOf(
      {
        feePayer: sponsor,
        moves: [
          { does: "replace", base: treasury, seed: ANY_SEED, plan: OTHER_SEED, payer: sponsor },
          {
            does: "transfer",
            mint,
            decimals,
            from: treasury,
            to,
            amount: 1n,
            accountPayer: mint === null ? null : sponsor,
          },
        ],
      },
      "floor",
    );
  };

  return async (asset, receiver) => {
    const mint = ledgerMint(asset);
    const [networkFee, [needsNone = false]] = await Promise.all([
      networkFeeOf(asset, receiver),
      mint === null ? [true] : ledger.haveTokenAccounts([receiver], mint),
    ]);
    const rent = needsNone ? 0n : await ledger.rentMinimum(TOKEN_ACCOUNT_BYTES);
    const lamports = networkFee * TRANSACTIONS_PER_REFUND + ledger.bidCeiling + (ledger.tip ?? 0n) + rent;
    return {
      refundCost: mint === null ? lamports : worthAtMost(lamports, await prices.rate(SOL_MINT, asset.mint)),
      isAccountPriced: !needsNone,
    };
  };
}
