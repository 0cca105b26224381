/** The inventory of the desk: the wallet that a provider of the service's own swaps out of. */
import type { Address } from "../../../core/address.ts";
import type { RoutingLedger } from "../../../ledger/routing.ts";
import { ledgerMint, type Token } from "../assets/assets.ts";

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
