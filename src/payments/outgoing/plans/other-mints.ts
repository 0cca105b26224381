/** What else was sent to a deposit address: mints that are none of ours, written down and moved by an operator's word only. */
import { SOL_MINT, type Address } from "../../../address.ts";
import { LedgerUnavailable, type Ledger } from "../../../ledger/ledger.ts";
import type { Assets } from "../../assets/assets.ts";

/** Anybody can invent mints and send them here; more than a few are of no use. */
const MAX_MINTS = 10;

/** How a mint is written down. Wrapped SOL is a token like any other; by its mint alone it would be counted as lamports. */
export function nameOfMint(mint: string): string {
  return mint === SOL_MINT ? `wrapped ${SOL_MINT}` : mint;
}

/**
 * Raw units by mint, Token-2022 included, of what is none of the service's assets (recorded, and
 * released by the operator). Best effort: an address that was sent thousands of mints may not be readable at all, and its
 * refunds do not wait for that.
 */
export async function otherMints(
  { ledger, assets }: { readonly ledger: Ledger; readonly assets: Assets },
  address: Address,
): Promise<Readonly<Record<string, string>>> {
  try {
    const { holdings } = await ledger.balances(address);
    const others = holdings
      .map(({ mint, amount }) => [nameOfMint(mint), String(amount)] as const)
      .filter(([mint]) => assets.ofMint(mint) === null);
    return Object.fromEntries(others.slice(0, MAX_MINTS));
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    return {};
  }
}
