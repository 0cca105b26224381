/** The terms of a swap with the desk: the price of a pool without a market (x · y = k), and the two legs. */
import type { Address } from "../../../core/address.ts";
import type { Move, RoutingLedger } from "../../../ledger/routing.ts";
import { ledgerMint, smallestAmount, type Token } from "../../frame/assets/assets.ts";
import { deskInventory, SMALLEST_SWAPS } from "../../frame/purses/desk-inventory.ts";
import type { WalletSwap } from "../../frame/exchange/swap-provider.ts";
import { formatAmount } from "../../../core/amount.ts";
import type { Logger } from "../../../core/runtime.ts";

type Transfer = Extract<Move, { does: "transfer" }>;

/**
 * Moves of a swap in wallet mode: sender and desk pay each other, and the sender pays for a new token account. Its creation
 * is always included, so that an account given to a thief makes the whole transaction fail.
 */
export function walletMoves(
  desk: Address,
  { give, get, inputAmount, outputAmount, sender, reference }: WalletSwap,
): readonly Transfer[] {
  return [
    {
      does: "transfer",
      mint: ledgerMint(give),
      decimals: give.decimals,
      from: sender,
      to: desk,
      amount: inputAmount,
      accountPayer: null,
      reference,
    },
    {
      does: "transfer",
      mint: ledgerMint(get),
      decimals: get.decimals,
      from: desk,
      to: sender,
      amount: outputAmount,
      accountPayer: ledgerMint(get) === null ? null : sender,
    },
  ];
}

/** A pool's balances of both assets, in base units. */
interface Reserves {
  readonly give: bigint;
  readonly get: bigint;
}

const BPS = 10_000n;
/** Hundredths of a percent of a percent: as exact as anybody reads a price impact. */
const IMPACT_PRECISION = 10_000n;

/** The rest of an amount after the spread, which is rounded up. */
export function lessSpread(amount: bigint, spreadBps: number): bigint {
  return amount - (amount * BigInt(spreadBps) + BPS - 1n) / BPS;
}

/** The output for `amount`, rounded down: the product of both reserves never shrinks. 0 for an empty pool. */
export function constantProduct(amount: bigint, { give, get }: Reserves): bigint {
  const taken = give + amount;
  return give <= 0n || get <= 0n || amount <= 0n ? 0n : (amount * get) / taken;
}

/** The price move against the giver of `amount`, in percent. */
export function priceImpact(amount: bigint, { give }: Reserves): number {
  const taken = give + amount;
  return taken <= 0n ? 0 : Number((amount * 100n * IMPACT_PRECISION) / taken) / Number(IMPACT_PRECISION);
}

/** Warns of each asset of which the desk has too little for even the smallest swap, naming what is missing. */
export async function warnOfShortage(
  { ledger, log }: { readonly ledger: RoutingLedger; readonly log: Logger },
  desk: Address,
  assets: readonly Token[],
): Promise<void> {
  const inventory = await deskInventory(ledger, desk, assets);
  assets.forEach((asset, index) => {
    const missing = smallestAmount(asset) * SMALLEST_SWAPS - (inventory[index] ?? 0n);
    if (missing <= 0n) return;
    log.warn(
      { desk, asset: asset.symbol, missing: formatAmount(missing, asset.decimals) },
      "the swap desk has too little of this asset to give any out",
    );
  });
}
