/** Reads the final balances of a desk. */
import type { Address } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import type { RoutingLedger } from "../../ledger/routing.ts";
import type { Logger } from "../../runtime.ts";
import { ledgerMint, smallestAmount, type Token } from "../assets/assets.ts";

/**
 * The desk's usable balance of each asset, in base units, in the order asked for. Money that is not final is not
 * counted, nor are the lamports that keep the account alive.
 */
export async function deskInventory(
  ledger: RoutingLedger,
  desk: Address,
  assets: readonly Token[],
): Promise<readonly bigint[]> {
  const mints = assets.map(ledgerMint).filter((mint) => mint !== null);
  const [{ funds }, rentMinimum] = await Promise.all([
    ledger.funds([desk], mints, "finalized"),
    mints.length === assets.length ? 0n : ledger.rentMinimum(0),
  ]);
  const [held] = funds;
  const spare = (held?.lamports ?? 0n) - rentMinimum;
  return assets.map((asset) => {
    const mint = ledgerMint(asset);
    if (mint !== null) return held?.tokens[mints.indexOf(mint)] ?? 0n;
    return spare > 0n ? spare : 0n;
  });
}

/** The least inventory, as a number of smallest swaps: each account may have a tenth of it. */
export const SMALLEST_SWAPS = 10n;

/** Dependencies of the warning. */
interface WarningParts {
  readonly ledger: RoutingLedger;
  readonly log: Logger;
}

/** Warns of each asset of which the desk has too little for even the smallest swap, naming what is missing. */
export async function warnOfShortage(
  { ledger, log }: WarningParts,
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
